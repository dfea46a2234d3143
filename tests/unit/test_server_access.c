// Who may in: Host headers, tokens, and what is left of a link. And the small parsers of requests next to it.
#include "tests/unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory_room.h"
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
    assert_true(
        access_init(&f->access, &f->arena,
                    &(struct access_settings){.host = host, .bind_all = bind_all, .no_token = no_token, .port = 6006}));
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
    assert_int_equal(access_judge(&f.access, &request), ACCESS_WRONG_TOKEN);
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
    assert_int_equal(access_judge(&f.access, &request), ACCESS_WRONG_TOKEN);
    request.authorization = "bearer 0123456789abcdef0123456789abcdef";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_GRANTED);
    request.authorization = "Basic 0123456789abcdef0123456789abcdef";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_WRONG_TOKEN);  // the cookie is
    request.cookie = NULL;
    assert_int_equal(access_judge(&f.access, &request), ACCESS_NO_TOKEN);
    request.authorization = "Bearer x";
    assert_int_equal(access_judge(&f.access, &request), ACCESS_WRONG_TOKEN);
    arena_free(&f.arena);
}

static bool wants_token(const char *host) {
    struct fixture f;
    open_fixture(&f, host, false, false);
    bool has_token = f.access.token[0] != '\0';
    arena_free(&f.arena);
    return has_token;
}

static void only_this_machine_needs_no_token(void **state) {
    (void)state;
    static const char *const near[] = {"localhost", "127.0.0.1", "127.9.8.7", "127.1", "::1"},
                             *const far[] = {"127.box.example",
                                             "127.0.0.1.box.example",
                                             "127.1.2.3.4.5",
                                             "127.0.0.1 box",
                                             "127.",
                                             "192.0.2.7",
                                             "0.0.0.0"};
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) assert_false(wants_token(near[i]));
    for (size_t i = 0; i < sizeof far / sizeof far[0]; i++) assert_true(wants_token(far[i]));
}

static void tokens_are_random_and_in_the_links(void **state) {
    (void)state;
    struct arena arena;
    struct access a, b;
    arena_init(&arena, 0);
    assert_true(access_init(&a, &arena, &(struct access_settings){.bind_all = true, .port = 6006}));
    assert_true(access_init(&b, &arena, &(struct access_settings){.bind_all = true, .port = 6006}));
    assert_int_equal(strlen(a.token), 32);
    assert_string_not_equal(a.token, b.token);
    assert_true(a.url_count > 0);
    for (size_t i = 0; i < a.url_count; i++) assert_non_null(strstr(a.urls[i], a.token));
    char cookie[ACCESS_COOKIE_BYTES];
    access_cookie(&a, NULL, cookie);
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

static void the_token_is_hidden_wherever_it_stands(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"/a?b=0123456789abcde", "/a?b=0123456789abcde"},  // too little of it
        {"/0123456789abcdef0123456789abcdef", "/..."},
        {"/a?b;token=0123456789abcdef0123456789abcdef&c", "/a?b;token=...&c"},
        {"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "......"},
        {"x%30%31%323456789abcdef0123456789abcde0", "x...0"},  // all but its end
        {"%30123456789abcdef0123456789abcde%66.", "...."},
        {"%2530%25253123456789abcdef0123456789abcdef/%", ".../%"},
        {"There is no \"0123456789abcdef01\xE2\x80\xA6", "There is no \"...\xE2\x80\xA6"},  // shortened
        {"00123456789abcdef0123456789abcdef0", "0...0"},
        {"%", "%"},
        {"%3", "%3"},
    };
    struct fixture f;
    open_fixture(&f, NULL, true, false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = arena_string(&f.arena, bytes_of(cases[i][0]));
        access_hide_token(&f.access, text);
        assert_string_equal(text, cases[i][1]);
    }
    f.access.token[0] = '\0';
    char text[] = "there is none to hide";
    access_hide_token(&f.access, text);
    access_hide_token(NULL, text);
    assert_string_equal(text, "there is none to hide");
    arena_free(&f.arena);
}

static void other_names_are_allowed_one_by_one(void **state) {
    (void)state;
    struct arena arena;
    struct access access;
    const char *const names[] = {"hub.example", "*.tunnels.example"};
    arena_init(&arena, 0);
    assert_true(access_init(&access, &arena,
                            &(struct access_settings){.port = 6006, .allow_hosts = names, .allow_host_count = 2}));
    static const char *const good[] = {"hub.example", "HUB.example:8443", "abc-6006.tunnels.example", "localhost:6006"};
    static const char *const bad[] = {"a.hub.example", "tunnels.example", "eviltunnels.example", "hub.example.evil"};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(access_judge(&access, &(struct access_request){.host = good[i]}), ACCESS_GRANTED);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(access_judge(&access, &(struct access_request){.host = bad[i]}), ACCESS_WRONG_HOST);
    arena_free(&arena);
}

static void a_proxy_is_told_from_a_rebound_name(void **state) {
    (void)state;
    struct arena arena;
    struct access access;
    struct forwarded told;
    arena_init(&arena, 0);
    assert_true(access_init(&access, &arena, &(struct access_settings){.port = 6006, .behind_proxy = true}));
    assert_true(access_believes(&access, true));
    assert_false(access_believes(&access, false));
    forwarded_read(&(struct forwarded_headers){.prefix = "/tools/hbm/"}, &told);
    static const struct {
        const char *host;
        enum access_verdict verdict;
    } cases[] = {{"hub.example", ACCESS_GRANTED},
                 {"hub.example:8888", ACCESS_GRANTED},
                 {"localhost:6006", ACCESS_GRANTED},
                 {"evil.example:6006", ACCESS_WRONG_HOST},
                 {"evil.example:06006", ACCESS_WRONG_HOST}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct access_request request = {.host = cases[i].host, .forwarded = &told};
        assert_int_equal(access_judge(&access, &request), cases[i].verdict);
    }
    forwarded_read(&(struct forwarded_headers){0}, &told);
    struct access_request bare = {.host = "hub.example", .forwarded = &told};
    assert_int_equal(access_judge(&access, &bare), ACCESS_WRONG_HOST);
    arena_free(&arena);
}

static void forwarded_headers_are_read_with_care(void **state) {
    (void)state;
    static const char *const prefixes[][2] = {{"/tools/hbm", "/tools/hbm"},
                                              {"/tools/hbm/", "/tools/hbm"},
                                              {"/a, /b", "/a"},
                                              {"/", ""},
                                              {"//evil.example", ""},
                                              {"tools", ""},
                                              {"/a/../b", ""},
                                              {"/a;Path=/", ""},
                                              {"/a\"b", ""},
                                              {"", ""},
                                              {"/a%20b", "/a%20b"}};
    struct forwarded told;
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        forwarded_read(&(struct forwarded_headers){.prefix = prefixes[i][0]}, &told);
        assert_string_equal(told.prefix, prefixes[i][1]);
    }
    forwarded_read(&(struct forwarded_headers){.host = "hub.example:8443, inner", .proto = "HTTPS", .prefix = "/t"},
                   &told);
    assert_string_equal(told.host, "hub.example:8443");
    assert_true(told.is_https && told.is_there);
    assert_string_equal(forwarded_path(&told, "/t/runs"), "/runs");
    assert_string_equal(forwarded_path(&told, "/t"), "/t");
    assert_string_equal(forwarded_path(&told, "/tt/runs"), "/tt/runs");
    forwarded_read(&(struct forwarded_headers){.host = "a/b", .proto = "httpsx"}, &told);
    assert_string_equal(told.host, "");
    assert_false(told.is_https);
}

static void cookies_go_where_the_browser_sees_the_server(void **state) {
    (void)state;
    struct arena arena;
    struct access access;
    struct forwarded told;
    char cookie[ACCESS_COOKIE_BYTES];
    struct access_settings settings = {.port = 6006, .token = TOKEN, .frame_ancestors = "https://hub.example"};
    arena_init(&arena, 0);
    assert_true(access_init(&access, &arena, &settings));
    assert_null(strstr(access.cookie_name, "6006"));  // replicas know each other's
    forwarded_read(&(struct forwarded_headers){.prefix = "/t", .proto = "https"}, &told);
    access_cookie(&access, &told, cookie);
    assert_non_null(strstr(cookie, "; HttpOnly; SameSite=None; Secure; Partitioned; Path=/t/"));
    told.is_https = false;
    access_cookie(&access, &told, cookie);
    assert_non_null(strstr(cookie, "; HttpOnly; SameSite=Strict; Path=/t/"));
    settings.frame_ancestors = NULL;
    told.is_https = true;
    assert_true(access_init(&access, &arena, &settings));
    access_cookie(&access, &told, cookie);
    assert_non_null(strstr(cookie, "; HttpOnly; SameSite=Strict; Secure; Path=/t/"));
    assert_non_null(strstr(access.content_policy, "frame-ancestors 'none'"));
    assert_false(access_token_is_plain("short"));
    assert_false(access_token_is_plain("0123456789abcdef; Path=/"));
    assert_false(access_frame_sources_are_plain("'self'; script-src *"));
    assert_true(access_frame_sources_are_plain("'self' https://hub.example"));
    arena_free(&arena);
}

static void a_server_that_encrypts_is_called_https(void **state) {
    (void)state;
    struct arena arena;
    struct access access;
    struct forwarded told;
    char cookie[ACCESS_COOKIE_BYTES];
    struct access_settings settings = {.port = 443, .is_https = true, .token = TOKEN, .behind_proxy = true};
    arena_init(&arena, 0);
    assert_true(access_init(&access, &arena, &settings));
    assert_int_equal(strncmp(access.urls[0], "https://localhost:443/?token=", 29), 0);
    access_cookie(&access, NULL, cookie);
    assert_non_null(strstr(cookie, "; HttpOnly; SameSite=Strict; Secure; Path=/"));
    assert_true(access_is_secure(&access, "192.0.2.7:443", NULL));
    forwarded_read(&(struct forwarded_headers){.prefix = "/t"}, &told);
    struct access_request request = {.host = "evil.example", .query_token = TOKEN, .forwarded = &told};
    assert_int_equal(access_judge(&access, &request), ACCESS_WRONG_HOST);  // https without a port is ours
    request.host = "hub.example:8443";
    assert_int_equal(access_judge(&access, &request), ACCESS_GRANTED_BY_LINK);
    assert_int_equal(strncmp(access_outer_url(&access, &request, &arena), "https://hub.example:8443/t/?token=", 34), 0);
    settings.is_https = false;
    assert_true(access_init(&access, &arena, &settings));
    assert_false(access_is_secure(&access, "192.0.2.7:443", NULL));
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

static void gzip_is_refused_where_there_is_no_room(void **state) {
    (void)state;
    struct output output;
    output_init(&output, 1 << 20);
    assert_non_null(output_reserve(&output, 1 << 10));
    size_t taken = memory_room_taken();
    memory_room_set(taken + (64 << 10), NULL, NULL);
    assert_false(gzip_compress(BYTES("some text"), &output));
    memory_room_set(taken + (1 << 20), NULL, NULL);
    assert_true(gzip_compress(BYTES("some text"), &output));
    assert_int_equal(memory_room_taken(), taken);
    memory_room_set(0, NULL, NULL);
    output_free(&output);
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
        cmocka_unit_test(only_this_machine_needs_no_token),
        cmocka_unit_test(tokens_are_random_and_in_the_links),
        cmocka_unit_test(the_token_leaves_the_address),
        cmocka_unit_test(the_token_is_hidden_wherever_it_stands),
        cmocka_unit_test(other_names_are_allowed_one_by_one),
        cmocka_unit_test(a_proxy_is_told_from_a_rebound_name),
        cmocka_unit_test(forwarded_headers_are_read_with_care),
        cmocka_unit_test(cookies_go_where_the_browser_sees_the_server),
        cmocka_unit_test(a_server_that_encrypts_is_called_https),
        cmocka_unit_test(reads_accept_encoding),
        cmocka_unit_test(tags_follow_the_content),
        cmocka_unit_test(gzip_goes_there_and_back),
        cmocka_unit_test(gzip_is_refused_where_there_is_no_room),
        cmocka_unit_test(asset_paths_stay_inside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
