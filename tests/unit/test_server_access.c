// Who may in: Host headers, tokens, and what is left of a link. And the small parsers of requests next to it.
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "server/http/access.h"
#include "server/http/assets.h"
#include "server/text/etag.h"
#include "server/http/gzip.h"
#include "server/http/request.h"

static const char TOKEN[] = "0123456789abcdef0123456789abcdef";

struct fixture {
    struct arena arena;
    struct access access;
};

static void open_fixture(struct fixture *f, const char *host, bool bind_all, bool no_token) {
    arena_init(&f->arena, 0);
    assert_true(access_init(&f->access, &f->arena, host, bind_all, no_token, 6006));
    if (f->access.token[0]) memcpy(f->access.token, TOKEN, sizeof TOKEN);
}

static enum access_verdict by_host(const struct fixture *f, const char *host) {
    return access_judge(&f->access, &(struct access_request){.host = host});
}

static void loopback_takes_its_own_names_only(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, NULL, false, false);
    static const char *const good[] = {"localhost",  "localhost:6006", "LOCALHOST:9999", "127.0.0.1:1",
                                       "[::1]:6006", "[::1]",          "localhost."};
    static const char *const bad[] = {"evil.example",
                                      "localhost.evil.example:6006",
                                      "127.0.0.1.evil.example",
                                      "",
                                      ":6006",
                                      "[::1",
                                      "localhost:6006x",
                                      "8.8.8.8",
                                      "localhost:80:80",
                                      "[]",
                                      "."};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) assert_int_equal(by_host(&f, good[i]), ACCESS_GRANTED);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_int_equal(by_host(&f, bad[i]), ACCESS_WRONG_HOST);
    assert_int_equal(by_host(&f, NULL), ACCESS_WRONG_HOST);
    assert_string_equal(f.access.token, "");
    assert_string_equal(f.access.urls[0], "http://localhost:6006/");
    arena_free(&f.arena);
}

static void a_shared_server_takes_any_address_but_no_foreign_name(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, NULL, true, true);
    assert_int_equal(by_host(&f, "203.0.113.9:6006"), ACCESS_GRANTED);
    assert_int_equal(by_host(&f, "[2001:db8::1]:6006"), ACCESS_GRANTED);
    assert_int_equal(by_host(&f, "evil.example"), ACCESS_WRONG_HOST);
    for (size_t i = 0; i < f.access.url_count; i++) assert_null(strstr(f.access.urls[i], "token"));
    arena_free(&f.arena);
}

static void a_shared_server_wants_its_token(void **state) {
    (void)state;
    struct fixture f;
    open_fixture(&f, "192.0.2.7", false, false);
    struct access_request request = {.host = "192.0.2.7:6006"};
    assert_int_equal(access_judge(&f.access, &request), ACCESS_NO_TOKEN);
    request.query_token = "0123456789abcdef0123456789abcdee";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_NO_TOKEN);
    request.query_token = "";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_NO_TOKEN);
    request.query_token = TOKEN;
    assert_int_equal(access_judge(&f.access, &request), ACCESS_GRANTED_BY_LINK);
    request = (struct access_request){.host = "localhost",
                                      .cookie = "a=b; hbmview_6006=0123456789abcdef0123456789abcdef; c"};
    assert_int_equal(access_judge(&f.access, &request), ACCESS_GRANTED);
    request.cookie = "hbmview_6007=0123456789abcdef0123456789abcdef";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_NO_TOKEN);
    request.cookie = "hbmview_6006=";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_NO_TOKEN);
    request.authorization = "bearer 0123456789abcdef0123456789abcdef";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_GRANTED);
    request.authorization = "Basic 0123456789abcdef0123456789abcdef";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_NO_TOKEN);
    arena_free(&f.arena);
}

static void tokens_are_random_and_in_the_links(void **state) {
    (void)state;
    struct arena arena;
    struct access a, b;
    arena_init(&arena, 0);
    assert_true(access_init(&a, &arena, NULL, true, false, 6006));
    assert_true(access_init(&b, &arena, NULL, true, false, 6006));
    assert_int_equal(strlen(a.token), 32);
    assert_string_not_equal(a.token, b.token);
    assert_true(a.url_count > 0);
    for (size_t i = 0; i < a.url_count; i++) assert_non_null(strstr(a.urls[i], a.token));
    char cookie[ACCESS_COOKIE_BYTES];
    access_cookie(&a, cookie);
    assert_non_null(strstr(cookie, "; HttpOnly; SameSite=Strict; Path=/"));
    arena_free(&arena);
}

static void the_token_leaves_the_address(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"/?token=x", "/"},
        {"/", "/"},
        {"/a?b=1&token=x", "/a?b=1"},
        {"/a?token=x&b=1", "/a?b=1"},
        {"/a?b=1&token=x&c=2&hbmview_retry=1", "/a?b=1&c=2"},
        {"/a?tokens=1", "/a?tokens=1"},
        {"/a?&&token=", "/a"},
        {"/a?", "/a"},
        {"/a?%74oken=x&b=1", "/a?b=1"},
        {"/a?tok%65%6E=x", "/a"},
        {"/a?b=1&hbmview%5Fretry", "/a?b=1"},
        {"/a?%54oken=x", "/a?%54oken=x"},
        {"/a?%7&%zz=1&%", "/a?%7&%zz=1&%"},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(access_plain_target(cases[i][0], &arena), cases[i][1]);
    arena_free(&arena);
}

static void reads_accept_encoding(void **state) {
    (void)state;
    static const struct {
        const char *header;
        bool takes;
    } cases[] = {{NULL, false},
                 {"", false},
                 {"gzip", true},
                 {"deflate, gzip", true},
                 {"GZIP;q=0.5", true},
                 {"gzip;q=0", false},
                 {"gzip; q=0.0, br", false},
                 {"*", true},
                 {"x-gzip", false},
                 {"br, *;q=0", false},
                 {"gzip;q=0, *", false},
                 {"*, gzip;q=0", false},
                 {"*;q=0, gzip", true},
                 {"gzip;x=0;q=1", true},
                 {"gzip;x=1;q=0", false},
                 {"identity", false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct request request = {.headers = {.accept_encoding = cases[i].header}};
        if (request_accepts_gzip(&request) != cases[i].takes) fail_msg("%s", cases[i].header);
    }
}

static void tags_follow_the_content(void **state) {
    (void)state;
    char a[ETAG_BYTES], b[ETAG_BYTES], gz[ETAG_BYTES];
    etag_of(BYTES("hello"), a);
    etag_of(BYTES("hello\0"), b);
    assert_string_not_equal(a, b);
    etag_for_gzip(a, gz);
    assert_true(etag_matches(a, a));
    assert_true(etag_matches(gz, a));
    assert_true(etag_matches(a, gz));
    assert_true(etag_matches(a, "*"));
    assert_false(etag_matches(a, b));
    assert_false(etag_matches(a, NULL));
    assert_false(etag_matches("", "*"));
}

static void gzip_goes_there_and_back(void **state) {
    (void)state;
    struct output packed, plain;
    output_init(&packed, OUTPUT_LIMIT_BYTES);
    output_init(&plain, OUTPUT_LIMIT_BYTES);
    for (size_t size = 0; size < 100000; size = size * 3 + 1) {
        char *text = calloc(1, size + 1);
        packed.size = plain.size = 0;
        assert_true(gzip_compress((struct bytes){(const uint8_t *)text, size}, &packed));
        assert_true(gzip_inflate(output_bytes(&packed), size, &plain));
        assert_int_equal(plain.size, size);
        assert_false(gzip_inflate(output_bytes(&packed), size + 1, &plain));
        free(text);
    }
    output_free(&packed);
    output_free(&plain);
}

static void asset_paths_stay_inside(void **state) {
    (void)state;
    static const char *const good[] = {"index.html", "js/main.js", "a/b/c.css", "a..b/c"};
    static const char *const bad[] = {"",     "..",   "../x", "a/../b", "a/..", "/etc/passwd",
                                      "a//b", ".git", "a/.b", "a\\b",   "a/"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) assert_true(assets_path_is_plain(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) assert_false(assets_path_is_plain(bad[i]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loopback_takes_its_own_names_only),
        cmocka_unit_test(a_shared_server_takes_any_address_but_no_foreign_name),
        cmocka_unit_test(a_shared_server_wants_its_token),
        cmocka_unit_test(tokens_are_random_and_in_the_links),
        cmocka_unit_test(the_token_leaves_the_address),
        cmocka_unit_test(reads_accept_encoding),
        cmocka_unit_test(tags_follow_the_content),
        cmocka_unit_test(gzip_goes_there_and_back),
        cmocka_unit_test(asset_paths_stay_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
