// Any bytes as the head of a request, a header a line: what is kept of it stands in it, and a head that is not
// ambiguous reads the same to everybody.
//
//     make fuzz T=server_head
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "proto/bytes.h"
#include "server/http/head.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADERS_MAX = 200, LENGTH_DIGITS_MAX = 18 };

struct header {
    const char *name, *value;  // NULL: a name alone
    size_t name_size, value_size;
};

static const char *const names[HEAD_FIELDS] = {
    [HEAD_HOST] = "host",
    [HEAD_COOKIE] = "cookie",
    [HEAD_AUTHORIZATION] = "authorization",
    [HEAD_ACCEPT_ENCODING] = "accept-encoding",
    [HEAD_IF_NONE_MATCH] = "if-none-match",
    [HEAD_LAST_EVENT_ID] = "last-event-id",
    [HEAD_ORIGIN] = "origin",
    [HEAD_FETCH_SITE] = "sec-fetch-site",
    [HEAD_FORWARDED_HOST] = "x-forwarded-host",
    [HEAD_FORWARDED_PREFIX] = "x-forwarded-prefix",
    [HEAD_FORWARDED_PROTO] = "x-forwarded-proto",
    [HEAD_FORWARDED_FOR] = "x-forwarded-for",
    [HEAD_CONTENT_LENGTH] = "content-length",
    [HEAD_TRANSFER_ENCODING] = "transfer-encoding",
};

static void require(bool holds) {
    if (!holds) abort();
}

// Each value ends in NUL, as the library gives them; there may be others in it.
static struct header header_of(char *line, size_t size) {
    char *colon = memchr(line, ':', size);
    struct header header = {.name = line, .name_size = colon ? (size_t)(colon - line) : size};
    if (!colon) return header;
    header.value = colon + 1;
    header.value_size = size - header.name_size - 1;
    return header;
}

static size_t read_headers(char *text, size_t size, struct header headers[HEADERS_MAX]) {
    size_t count = 0;
    for (size_t at = 0; at < size && count < HEADERS_MAX;) {
        char *end = memchr(text + at, '\n', size - at);
        size_t line_size = end ? (size_t)(end - text) - at : size - at;
        text[at + line_size] = '\0';
        headers[count++] = header_of(text + at, line_size);
        at += line_size + 1;
    }
    return count;
}

static bool is_called(const struct header *header, const char *name) {
    return header->name_size == strlen(name) && strncasecmp(header->name, name, header->name_size) == 0;
}

static bool is_of_proxy(size_t field) {
    return bytes_starts_with(bytes_of(names[field]), BYTES("x-forwarded-"));
}

// The first of each name is kept, of a proxy's the last, and all are counted.
static void check_kept(const struct head *head, const struct header *headers, size_t count) {
    for (size_t field = 0; field < HEAD_FIELDS; field++) {
        const struct header *kept = NULL;
        unsigned seen = 0;
        for (size_t i = 0; i < count; i++) {
            if (!is_called(&headers[i], names[field])) continue;
            if (!seen++ || is_of_proxy(field)) kept = &headers[i];
        }
        require(head->counts[field] == seen && head->values[field] == (kept ? kept->value : NULL));
    }
}

static bool is_plain(const char *text, size_t size, const char *others) {
    for (size_t i = 0; i < size; i++) {
        bool is_other = text[i] && strchr(others, text[i]);
        if (!is_other && ((uint8_t)text[i] <= ' ' || text[i] == 0x7f)) return false;
    }
    return true;
}

static bool is_length(const char *value) {
    size_t digits = value ? strspn(value, "0123456789") : 0;
    return digits && digits <= LENGTH_DIGITS_MAX && !value[digits];
}

static void check_header(const struct header *header) {
    require(is_plain(header->name, header->name_size, ""));
    require(is_plain(header->value, header->value_size, " \t"));
    require(!is_called(header, "content-length") || is_length(header->value));
    require(!is_called(header, "transfer-encoding") || (header->value && strcasecmp(header->value, "chunked") == 0));
}

static void check_one_reading(const struct head *head, const struct header *headers, size_t count) {
    if (head_is_ambiguous(head)) return;
    require(head->counts[HEAD_HOST] <= 1);
    require(head->counts[HEAD_CONTENT_LENGTH] + head->counts[HEAD_TRANSFER_ENCODING] <= 1);
    for (size_t i = 0; i < count; i++) check_header(&headers[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct header headers[HEADERS_MAX];
    struct head head = {0};
    char *text = malloc(size + 1);
    require(text != NULL);
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    size_t count = read_headers(text, size, headers);
    for (size_t i = 0; i < count; i++)
        head_take(&head, headers[i].name, headers[i].name_size, headers[i].value, headers[i].value_size);
    check_kept(&head, headers, count);
    check_one_reading(&head, headers, count);
    free(text);
    return 0;
}
