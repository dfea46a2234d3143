// Any bytes as a URL, as a file of AWS's tools, as a server's JSON and as a private key: reading ends, what is sent is
// one line, and an address that holds a password opens nothing.
//
//     make fuzz T=server_credentials
#include <stdlib.h>
#include <string.h>

#include "server/storage/identity.h"
#include "server/storage/ini_text.h"
#include "server/storage/json_answer.h"
#include "server/storage/jwt.h"
#include "server/storage/object_bucket.h"
#include "server/storage/url_text.h"
#include "server/storage/web_service.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 64 << 20, TEXT_BYTES_MAX = 1 << 16 };

static void require(bool holds) {
    if (!holds) abort();
}

static const char *empty_environment(const char *name) {
    (void)name;
    return NULL;
}

static void require_sendable(const char *text) {
    for (; *text; text++) require((uint8_t)*text > ' ' && *text != 0x7f);
}

static bool is_within(struct bytes part, struct bytes whole) {
    return part.data >= whole.data && part.data + part.size <= whole.data + whole.size;
}

// --- URLs ---

static void check_bucket(const struct object_bucket *bucket, const char *prefix) {
    size_t size = strlen(prefix);
    require(size == 0 || (prefix[0] != '/' && prefix[size - 1] != '/'));
    require_sendable(bucket->origin);
    require_sendable(bucket->root_path);
    require(bucket->name[0] && !strchr(bucket->origin, '@'));
    require(bucket->web ? bucket->root_path[0] == '/' && !bucket->identity : bucket->identity != NULL);
}

static void check_url(struct bytes text, struct arena *arena) {
    struct object_bucket bucket;
    struct error error;
    const char *url = arena_string(arena, text), *prefix;
    if (!url) return;
    if (object_bucket_of_url(url, empty_environment, NULL, NULL, arena, &bucket, &prefix, &error)) {
        check_bucket(&bucket, prefix);
        identity_free(bucket.identity);
        web_object_free(bucket.web);
    } else {
        require(error.code == ERROR_BAD_REQUEST && error.message[0]);
    }
}

static void check_escapes(struct bytes text, struct arena *arena) {
    static const enum url_part parts[] = {URL_PATH, URL_VALUE};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *escaped = url_escape(text, parts[i], arena);
        require_sendable(escaped);
        require(bytes_equal(url_unescape_form(bytes_of(escaped), arena), text));
    }
    require_sendable(url_escape_rest(text, arena));
}

// --- Credentials ---

static void check_settings(struct bytes text) {
    static const char *const sections[] = {"default", "profile work", ""};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct bytes value;
        if (!ini_find(text, bytes_of(sections[i]), BYTES("aws_access_key_id"), &value)) continue;
        require(is_within(value, text) && !memchr(value.data, '\n', value.size));
    }
}

static void check_answer(struct bytes text, struct arena *arena) {
    json_t *document = json_answer_read(text);
    const char *token = json_answer_text(document, "access_token", arena);
    require(document || !token);
    json_decref(document);
}

static void check_key(struct bytes text, struct arena *arena) {
    const char *given = arena_string(arena, text), *token;
    struct error error;
    if (!given) return;
    struct jwt_claims claims = {"a@b", "https://host/token", "scope", 1, 2};
    if (jwt_make(&claims, given, arena, &token, &error))
        require_sendable(token);
    else
        require(error.code == ERROR_MALFORMED || error.code == ERROR_TOO_BIG);
    claims = (struct jwt_claims){given, given, "scope", 1, 2};
    require(!jwt_make(&claims, "no key", arena, &token, &error));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = {data, size};
    struct arena arena;
    if (size > TEXT_BYTES_MAX) return 0;
    arena_init(&arena, ARENA_BYTES);
    check_url(text, &arena);
    check_escapes(text, &arena);
    check_settings(text);
    check_answer(text, &arena);
    check_key(text, &arena);
    arena_free(&arena);
    return 0;
}
