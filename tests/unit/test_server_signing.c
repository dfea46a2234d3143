// Requests to object stores as they are signed: AWS's published examples of Signature Version 4 for S3
// (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html), and the escapes that they rest on.
#include "tests/unit/cmocka_all.h"
#include "server/storage/crypto.h"
#include "server/storage/sigv4.h"
#include "server/storage/url_text.h"

enum { MAY_24_2013 = 1369353600 };

static const char *signed_value(struct http_question *question, struct arena *arena) {
    static const struct sigv4_identity identity = {"AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                                   NULL, "us-east-1"};
    assert_true(sigv4_sign(question, &identity, MAY_24_2013, arena));
    assert_string_equal(question->headers[question->header_count - 1].name, "Authorization");
    assert_true(question->has_secret);
    return question->headers[question->header_count - 1].value;
}

static void check_signature(struct http_question question, const char *headers, const char *signature) {
    struct arena arena;
    arena_init(&arena, 0);
    const char *expected = arena_printf(&arena,
                                        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/"
                                        "aws4_request, SignedHeaders=%s, Signature=%s",
                                        headers, signature);
    question.method = "GET";
    question.origin = "https://examplebucket.s3.amazonaws.com";
    assert_string_equal(signed_value(&question, &arena), expected);
    arena_free(&arena);
}

static void aws_example_of_a_range(void **state) {
    (void)state;
    check_signature(
        (struct http_question){
            .path = "/test.txt", .query = "", .headers = {{"Range", "bytes=0-9"}}, .header_count = 1},
        "host;range;x-amz-content-sha256;x-amz-date",
        "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

static void aws_example_of_a_list(void **state) {
    (void)state;
    check_signature((struct http_question){.path = "/", .query = "max-keys=2&prefix=J"},
                    "host;x-amz-content-sha256;x-amz-date",
                    "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

static void a_session_token_is_signed(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    const struct sigv4_identity identity = {"A", "S", "the token", "eu-west-1"};
    struct http_question question = {.method = "GET", .origin = "http://127.0.0.1:9000", .path = "/b", .query = ""};
    assert_true(sigv4_sign(&question, &identity, MAY_24_2013, &arena));
    const char *value = question.headers[question.header_count - 1].value;
    assert_non_null(strstr(value, "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"));
    assert_null(strstr(value, "the token"));
    assert_string_equal(question.headers[0].name, "Host");
    assert_string_equal(question.headers[0].value, "127.0.0.1:9000");
    arena_free(&arena);
}

static void texts_are_escaped_once_and_come_back(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    const char *name = "a b/(1)=+%\xc3\xbc.pb";
    assert_string_equal(url_escape(bytes_of(name), URL_PATH, &arena), "a%20b/%281%29%3D%2B%25%C3%BC.pb");
    assert_string_equal(url_escape(bytes_of(name), URL_VALUE, &arena), "a%20b%2F%281%29%3D%2B%25%C3%BC.pb");
    assert_string_equal(url_escape_rest(bytes_of("/a b%20/ü?c=\"<\r\n>&d=1+2"), &arena),
                        "/a%20b%20/%C3%BC?c=%22%3C%0D%0A%3E&d=1+2");
    struct bytes back = url_unescape_form(bytes_of("a%20b%2F%281%29%3D%2B%25%C3%BC.pb"), &arena);
    assert_true(bytes_equal(back, bytes_of(name)));
    assert_true(bytes_equal(url_unescape_form(BYTES("a+b%2B"), &arena), BYTES("a b+")));
    assert_true(bytes_equal(url_unescape_form(BYTES("100%"), &arena), BYTES("100%")));
    assert_true(bytes_equal(url_unescape_form(BYTES("%4"), &arena), BYTES("%4")));
    assert_true(bytes_equal(url_unescape_form(BYTES("%zz%41"), &arena), BYTES("%zzA")));
    arena_free(&arena);
}

static void a_key_that_is_none_is_said(void **state) {
    (void)state;
    struct arena arena;
    struct bytes signature;
    struct error error;
    arena_init(&arena, 0);
    assert_false(crypto_sign_rs256(BYTES("secret words"), BYTES("text"), &arena, &signature, &error));
    assert_int_equal(error.code, ERROR_MALFORMED);
    assert_null(strstr(error.message, "secret words"));
    arena_free(&arena);
}

// OpenSSL's allocator, where that is the library behind it.
void *CRYPTO_malloc(size_t size, const char *file, int line) __attribute__((weak));

// A refusal of another moment: what no memory is left for now and what is no key stay different.
static void a_key_that_is_none_is_said_after_a_refusal(void **state) {
#ifndef IS_INSTRUMENTED  // sanitizers end the program
    struct arena arena;
    struct bytes signature;
    struct error error;
    arena_init(&arena, 0);
    if (CRYPTO_malloc) assert_null(CRYPTO_malloc(SIZE_MAX / 2, __FILE__, __LINE__));
    assert_false(crypto_sign_rs256(BYTES("secret words"), BYTES("text"), &arena, &signature, &error));
    assert_int_equal(error.code, ERROR_MALFORMED);
    arena_free(&arena);
#endif
    (void)state;
}

static int begin(void **state) {
    (void)state;
    return crypto_begin() ? 0 : -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aws_example_of_a_range),     cmocka_unit_test(aws_example_of_a_list),
        cmocka_unit_test(a_session_token_is_signed),  cmocka_unit_test(texts_are_escaped_once_and_come_back),
        cmocka_unit_test(a_key_that_is_none_is_said), cmocka_unit_test(a_key_that_is_none_is_said_after_a_refusal),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
