// Any bytes as an address, a query and what a proxy tells: decoding undoes encoding, and what is taken for a plain path
// or prefix is one.
#include <stdlib.h>
#include <string.h>

#include "server/http/assets.h"
#include "server/http/forwarded.h"
#include "server/storage/url_text.h"
#include "server/text/query_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 64 << 20 };

static void require(bool holds) {
    if (!holds) abort();
}

static void check_query(const char *text, struct arena *arena) {
    struct text_writer writer = {.arena = arena};
    query_put(&writer, "", text);
    const char *put = text_writer_finish(&writer);
    require(put && strspn(put, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~%/+") == strlen(put));
    char *back = arena_string(arena, bytes_of(put)), *decoded = arena_string(arena, bytes_of(text));
    require(strcmp(query_decode(back), text) == 0);
    require(strlen(query_decode(decoded)) <= strlen(text));
}

static void check_escapes(struct bytes bytes, struct arena *arena) {
    const char *escaped = url_escape(bytes, URL_VALUE, arena);
    require(escaped && !strpbrk(escaped, "/?#&=+ \"<>\r\n"));
    require(bytes_equal(url_unescape_form(bytes_of(escaped), arena), bytes));
    const char *rest = url_escape_rest(bytes, arena);
    require(rest && !strpbrk(rest, " \"<>\r\n"));
}

static void check_forwarded(const char *text) {
    const struct forwarded_headers headers = {.host = text, .prefix = text, .proto = text};
    struct forwarded forwarded;
    forwarded_read(&headers, &forwarded);
    size_t size = strlen(forwarded.prefix);
    require(strlen(forwarded.host) < FORWARDED_HOST_BYTES && size < FORWARDED_PREFIX_BYTES);
    require(!size || (forwarded.prefix[0] == '/' && forwarded.prefix[size - 1] != '/'));
    require(!strpbrk(forwarded.host, "/\r\n\"<>") && !strpbrk(forwarded.prefix, "\r\n\"<>"));
    const char *path = forwarded_path(&forwarded, text);
    require(path >= text && path <= text + strlen(text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    const char *text = arena_string(&arena, (struct bytes){data, size});
    require(text != NULL);
    check_query(text, &arena);
    check_escapes((struct bytes){data, size}, &arena);
    check_forwarded(text);
    require(!assets_path_is_plain(text) || (text[0] != '.' && !strstr(text, "/.") && !strchr(text, '\\')));
    arena_free(&arena);
    return 0;
}
