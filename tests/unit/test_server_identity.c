// Who asks: what environment and files say, without any server.
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>

#include "server/storage/identity_gcs.h"
#include "server/storage/identity_s3.h"
#include "server/storage/ini_text.h"
#include "server/storage/object_bucket.h"
#include "tests/unit/temp_folder.h"

// The environment of the test that runs: names and values in turn, NULL at its end.
static const char *const *variables;

static const char *from_test(const char *name) {
    for (const char *const *at = variables; at && *at; at += 2) {
        if (strcmp(at[0], name) == 0) return at[1];
    }
    return NULL;
}

static const char file[] = "# mine\n[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key=S1\n\n"
                           "[ work ]\r\naws_access_key_id=AKWORK\r\naws_secret_access_key = a=b/c+ \r\n"
                           "aws_session_token=T\n";

static void ini_values(void **state) {
    (void)state;
    struct bytes value;
    assert_true(ini_find(bytes_of(file), BYTES("work"), BYTES("aws_secret_access_key"), &value));
    assert_true(bytes_equal(value, BYTES("a=b/c+")));
    assert_true(ini_find(bytes_of(file), BYTES("default"), BYTES("aws_access_key_id"), &value));
    assert_true(bytes_equal(value, BYTES("AKDEFAULT")));
    assert_false(ini_find(bytes_of(file), BYTES("default"), BYTES("aws_session_token"), &value));
    assert_false(ini_find(bytes_of(file), BYTES(""), BYTES("# mine"), &value));
    assert_false(ini_find((struct bytes){0}, BYTES("a"), BYTES("b"), &value));
}

static struct identity_keys keys_of(struct identity *identity, struct arena *arena) {
    struct identity_keys keys;
    struct error error;
    assert_non_null(identity);
    if (!identity_keys(identity, arena, &keys, &error)) fail_msg("%s", error.message);
    identity_free(identity);
    return keys;
}

static void s3_keys_of_the_environment_come_first(void **state) {
    (void)state;
    static const char *const own[] = {"AWS_ACCESS_KEY_ID", "AK", "AWS_SECRET_ACCESS_KEY", "very secret", NULL};
    struct arena arena;
    arena_init(&arena, 0);
    variables = own;
    struct identity_keys keys = keys_of(identity_of_s3(from_test, NULL), &arena);
    assert_string_equal(keys.access_key, "AK");
    assert_string_equal(keys.secret, "very secret");
    assert_null(keys.session_token);
    assert_non_null(strstr(keys.who, "AK "));
    assert_null(strstr(keys.who, "secret"));
    arena_free(&arena);
}

static void s3_keys_of_a_profile(void **state) {
    (void)state;
    struct temp_folder folder;
    struct arena arena;
    arena_init(&arena, 0);
    temp_folder_make(&folder);
    temp_folder_write(&folder, "credentials", bytes_of(file));
    temp_folder_write(&folder, "config", BYTES("[default]\nregion=eu-west-1\n[profile work]\nregion = us-west-2\n"));
    struct temp_path credentials = temp_folder_path(&folder, "credentials"),
                     config = temp_folder_path(&folder, "config");
    const char *const work[] = {
        "AWS_SHARED_CREDENTIALS_FILE", credentials.text, "AWS_PROFILE", "work", "AWS_CONFIG_FILE", config.text, NULL};
    variables = work;
    struct identity_keys keys = keys_of(identity_of_s3(from_test, NULL), &arena);
    assert_string_equal(keys.access_key, "AKWORK");
    assert_string_equal(keys.secret, "a=b/c+");
    assert_string_equal(keys.session_token, "T");
    assert_string_equal(s3_region(from_test, &arena), "us-west-2");
    const char *const usual[] = {"AWS_SHARED_CREDENTIALS_FILE", credentials.text, "AWS_CONFIG_FILE", config.text, NULL};
    variables = usual;
    assert_string_equal(keys_of(identity_of_s3(from_test, NULL), &arena).access_key, "AKDEFAULT");
    assert_string_equal(s3_region(from_test, &arena), "eu-west-1");
    temp_folder_remove(&folder);
    arena_free(&arena);
}

static void nobody_is_somebody_without_keys(void **state) {
    (void)state;
    static const char *const alone[] = {"AWS_EC2_METADATA_DISABLED", "true", "NO_GCE_CHECK", "true", NULL};
    struct arena arena;
    arena_init(&arena, 0);
    variables = alone;
    struct identity_keys s3 = keys_of(identity_of_s3(from_test, NULL), &arena);
    assert_null(s3.secret);
    assert_int_equal(strncmp(s3.who, "nobody", 6), 0);
    struct identity_keys gcs = keys_of(identity_of_gcs(from_test, NULL), &arena);
    assert_null(gcs.bearer);
    assert_int_equal(strncmp(gcs.who, "nobody", 6), 0);
    assert_string_equal(s3_region(from_test, &arena), "us-east-1");
    arena_free(&arena);
}

static const char *given_key;
static int times_asked;

static bool give_key(struct identity *identity, struct arena *arena, struct identity_keys *keys, int64_t *until_s,
                     struct error *error) {
    (void)identity, (void)until_s;
    times_asked++;
    if (!given_key) return error_set(error, ERROR_UNREADABLE, "no keys now");
    *keys = (struct identity_keys){.bearer = arena_string(arena, bytes_of(given_key)), .who = "me"};
    return true;
}

static void check_key(struct identity *identity, const char *key, int asked) {
    struct arena arena;
    struct identity_keys keys;
    struct error error;
    arena_init(&arena, 0);
    assert_true(identity_keys(identity, &arena, &keys, &error));
    assert_string_equal(keys.bearer, key);
    assert_int_equal(times_asked, asked);
    arena_free(&arena);
}

static void doubted_keys_are_asked_for_anew_but_not_for_ever(void **state) {
    (void)state;
    struct identity *identity = identity_new(NULL, give_key, NULL);
    times_asked = 0;
    given_key = "old";
    check_key(identity, "old", 1);
    check_key(identity, "old", 1);
    identity_doubt(identity);
    given_key = "new";
    check_key(identity, "new", 2);
    identity_doubt(identity);
    given_key = NULL;
    check_key(identity, "new", 3);  // the old ones may hold
    identity_doubt(identity);
    check_key(identity, "new", 3);
    identity_free(identity);
}

// The credentials of GOOGLE_APPLICATION_CREDENTIALS are refused with what is wrong, never with what is in them.
static void check_refused_file(const char *content, const char *reason) {
    struct temp_folder folder;
    struct arena arena;
    struct identity_keys keys;
    struct error error;
    arena_init(&arena, 0);
    temp_folder_make(&folder);
    temp_folder_write(&folder, "adc.json", bytes_of(content));
    struct temp_path path = temp_folder_path(&folder, "adc.json");
    const char *const named[] = {"GOOGLE_APPLICATION_CREDENTIALS", path.text, "NO_GCE_CHECK", "true", NULL};
    variables = named;
    struct identity *identity = identity_of_gcs(from_test, NULL);
    assert_false(identity_keys(identity, &arena, &keys, &error));
    if (!strstr(error.message, reason)) fail_msg("%s", error.message);
    assert_string_equal(error.file, path.text);
    assert_null(strstr(error.message, "hush"));
    identity_free(identity);
    temp_folder_remove(&folder);
    arena_free(&arena);
}

static void wrong_files_of_google(void **state) {
    (void)state;
    check_refused_file("hush", "credentials in JSON");
    check_refused_file("{\"type\": \"external_account\", \"x\": \"hush\"}", "external_account");
    check_refused_file("{\"type\": \"authorized_user\", \"client_secret\": \"hush\"}", "refresh_token");
    check_refused_file("{\"type\": \"service_account\", \"private_key\": \"hush\"}", "client_email");
    check_refused_file("{\"type\": \"service_account\", \"client_email\": \"a@b\", \"private_key\": \"hush\"}", "PEM");
}

static void check_bucket(const char *url, const char *origin, const char *root_path, const char *prefix) {
    struct arena arena;
    struct object_bucket bucket;
    struct error error;
    const char *found;
    arena_init(&arena, 0);
    if (!object_bucket_of_url(url, from_test, NULL, NULL, &arena, &bucket, &found, &error))
        fail_msg("%s", error.message);
    assert_string_equal(bucket.origin, origin);
    assert_string_equal(bucket.root_path, root_path);
    assert_string_equal(found, prefix);
    identity_free(bucket.identity);
    arena_free(&arena);
}

static void buckets_of_urls(void **state) {
    (void)state;
    static const char *const there[] = {"AWS_REGION", "eu-west-1", NULL};
    static const char *const here[] = {"AWS_ENDPOINT_URL", "http://127.0.0.1:9000/", "STORAGE_EMULATOR_HOST",
                                       "127.0.0.1:4443", NULL};
    variables = there;
    check_bucket("s3://bucket/a/b/", "https://bucket.s3.eu-west-1.amazonaws.com", "", "a/b");
    check_bucket("s3://my.bucket", "https://s3.eu-west-1.amazonaws.com", "/my.bucket", "");
    check_bucket("gs://bucket//run", "https://storage.googleapis.com", "/storage/v1/b/bucket/o", "run");
    variables = here;
    check_bucket("s3://bucket/a", "http://127.0.0.1:9000", "/bucket", "a");
    check_bucket("gs://bucket", "http://127.0.0.1:4443", "/storage/v1/b/bucket/o", "");
}

static void urls_of_no_bucket(void **state) {
    (void)state;
    static const char *const urls[] = {
        "gs://", "gs:///a", "s3://a b/c", "s3://a%2f/c", "az://a/b", "s3://a?b/c", "HTTPS://host/a?signature"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        struct arena arena;
        struct object_bucket bucket;
        struct error error;
        const char *prefix;
        arena_init(&arena, 0);
        assert_false(object_bucket_of_url(urls[i], from_test, NULL, NULL, &arena, &bucket, &prefix, &error));
        assert_int_equal(error.code, ERROR_BAD_REQUEST);
        assert_null(strstr(error.file, "signature"));
        arena_free(&arena);
    }
}

static void passwords_in_endpoints(void **state) {
    (void)state;
    static const char *const told[][2] = {{"AWS_ENDPOINT_URL", "s3://bucket/a"},
                                          {"AWS_ENDPOINT_URL_S3", "s3://bucket/a"},
                                          {"STORAGE_EMULATOR_HOST", "gs://bucket/a"}};
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        const char *const set[] = {told[i][0], "http://user:secret@127.0.0.1:9000", NULL};
        struct arena arena;
        struct object_bucket bucket;
        struct error error;
        const char *prefix;
        arena_init(&arena, 0);
        variables = set;
        assert_false(object_bucket_of_url(told[i][1], from_test, NULL, NULL, &arena, &bucket, &prefix, &error));
        assert_int_equal(error.code, ERROR_BAD_REQUEST);
        assert_non_null(strstr(error.message, told[i][0]));
        assert_null(strstr(error.message, "secret"));
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ini_values),
        cmocka_unit_test(s3_keys_of_the_environment_come_first),
        cmocka_unit_test(s3_keys_of_a_profile),
        cmocka_unit_test(nobody_is_somebody_without_keys),
        cmocka_unit_test(doubted_keys_are_asked_for_anew_but_not_for_ever),
        cmocka_unit_test(wrong_files_of_google),
        cmocka_unit_test(buckets_of_urls),
        cmocka_unit_test(urls_of_no_bucket),
        cmocka_unit_test(passwords_in_endpoints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
