// Any bytes as what a request says of itself, a line each: nobody gets in without the token or by a foreign name, no
// address keeps a token, and what is taken for an answer to a header stands in that header.
//
//     /runs?token=0123456789abcdef&run=a       target
//     hub.example:6006                         Host
//     hbmview_6006=0123456789abcdef            Cookie
//     Bearer 0123456789abcdef                  Authorization
//     https://hub.example:6006                 Origin
//     gzip;q=0.5, *                            Accept-Encoding
//     "00112233445566778899aabbccddeeff"       If-None-Match
//     192.0.2.7, [2001:db8::1]:443             X-Forwarded-For
//
//     make fuzz T=server_headers
#define _GNU_SOURCE 1  // strcasestr
#include <stdlib.h>
#include <string.h>

#include "server/http/access.h"
#include "server/http/request.h"
#include "server/http/same_site.h"
#include "server/text/etag.h"
#include "server/text/query_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 16 << 20, LINES_BYTES_MAX = 1 << 14 };
enum { TARGET, HOST, COOKIE, AUTHORIZATION, ORIGIN, ACCEPT_ENCODING, IF_NONE_MATCH, FORWARDED_FOR, LINE_COUNT };

#define TOKEN "0123456789abcdef"
#define TAG "00112233445566778899aabbccddeeff"

static const char *hosts[] = {"localhost", "127.0.0.1", "hub.example", "*.lab.example"};

static void require(bool holds) {
    if (!holds) abort();
}

static bool has(const char *text, const char *part) {
    return text && strcasestr(text, part);
}

static void read_lines(char *text, const char *lines[LINE_COUNT]) {
    for (int i = 0; i < LINE_COUNT && text; i++) {
        char *end = strchr(text, '\n');
        if (end) *end = '\0';
        lines[i] = *text ? text : NULL;
        text = end ? end + 1 : NULL;
    }
}

// --- Who may ask ---

static void check_judge(const struct access *access, const char *const lines[LINE_COUNT]) {
    const struct access_request request = {.host = lines[HOST],
                                           .query_token = lines[TARGET],
                                           .cookie = lines[COOKIE],
                                           .authorization = lines[AUTHORIZATION]};
    enum access_verdict verdict = access_judge(access, &request);
    bool is_ours = has(request.host, "localhost") || has(request.host, "127.0.0.1") ||
                   has(request.host, "hub.example") || has(request.host, ".lab.example");
    bool is_granted = verdict == ACCESS_GRANTED || verdict == ACCESS_GRANTED_BY_LINK;
    require(is_ours || verdict == ACCESS_WRONG_HOST);
    if (!is_granted || !access->token[0]) return;
    require(verdict == ACCESS_GRANTED_BY_LINK ? strcmp(request.query_token, TOKEN) == 0
                                              : has(request.cookie, TOKEN) || has(request.authorization, TOKEN));
}

static void check_origin(const struct access *access, const char *const lines[LINE_COUNT]) {
    const struct same_site_headers headers = {.host = lines[HOST], .origin = lines[ORIGIN]};
    bool is_ours = same_site_is_ours(access, &headers, NULL);
    require(lines[ORIGIN] || is_ours);
    if (!lines[ORIGIN] || !is_ours) return;
    const char *host = strstr(lines[ORIGIN], "://");
    require(host && host[3]);
    require(has(lines[HOST], host + 3) || has(lines[HOST], ":") || has(host, "hub.example") ||
            has(host, ".lab.example"));
}

// --- The address ---

static void check_argument(const char *argument, size_t size, struct arena *arena) {
    char *name = arena_string(arena, (struct bytes){(const uint8_t *)argument, size});
    require(name != NULL);
    name[strcspn(name, "=")] = '\0';
    require(strcmp(query_decode(name), "token") != 0);
}

static void check_target(const char *target, struct arena *arena) {
    const char *plain = access_plain_target(target, arena);
    require(plain && strlen(plain) <= strlen(target));
    const char *again = access_plain_target(plain, arena), *query = strchr(plain, '?');
    require(again && strcmp(again, plain) == 0);
    for (const char *at = query ? query + 1 : ""; *at;) {
        size_t size = strcspn(at, "&");
        check_argument(at, size, arena);
        at += size + (at[size] == '&');
    }
}

// --- The other headers ---

static void check_client(const char *header) {
    struct client_address address = {{0}};
    if (client_address_forwarded(header, &address)) require(has(header, ".") || has(header, ":"));
}

static void check_numbers(const char *text) {
    const struct request request = {.query = {{"n", text}}, .query_count = 1};
    struct error error;
    int64_t value;
    if (request_int64(&request, "n", 7, &value, &error))
        require(text || value == 7);
    else
        require(error.code == ERROR_BAD_REQUEST);
}

static void check_lines(const char *const lines[LINE_COUNT], struct arena *arena) {
    struct access access = {.port = 6006, .hosts = hosts, .host_count = 4, .allowed_count = 2, .token = TOKEN};
    memcpy(access.cookie_name, "hbmview_6006", sizeof "hbmview_6006");
    check_judge(&access, lines);
    access.token[0] = '\0';
    check_judge(&access, lines);
    check_origin(&access, lines);
    if (lines[TARGET]) check_target(lines[TARGET], arena);
    const struct request request = {.headers = {.accept_encoding = lines[ACCEPT_ENCODING]}};
    if (request_accepts_gzip(&request))
        require(has(lines[ACCEPT_ENCODING], "gzip") || has(lines[ACCEPT_ENCODING], "*"));
    if (etag_matches("\"" TAG "\"", lines[IF_NONE_MATCH]))
        require(has(lines[IF_NONE_MATCH], TAG) || has(lines[IF_NONE_MATCH], "*"));
    check_client(lines[FORWARDED_FOR]);
    check_numbers(lines[FORWARDED_FOR]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    const char *lines[LINE_COUNT] = {NULL};
    if (size > LINES_BYTES_MAX) return 0;
    arena_init(&arena, ARENA_BYTES);
    char *text = arena_string(&arena, (struct bytes){data, size});
    require(text != NULL);
    read_lines(text, lines);
    check_lines(lines, &arena);
    arena_free(&arena);
    return 0;
}
