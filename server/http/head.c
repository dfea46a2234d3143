#include "server/http/head.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    size_t size;
} names[HEAD_FIELDS] = {
#define NAME(text)                                                                                                     \
    { (text), sizeof(text) - 1 }
    [HEAD_HOST] = NAME("Host"),
    [HEAD_COOKIE] = NAME("Cookie"),
    [HEAD_AUTHORIZATION] = NAME("Authorization"),
    [HEAD_ACCEPT_ENCODING] = NAME("Accept-Encoding"),
    [HEAD_IF_NONE_MATCH] = NAME("If-None-Match"),
    [HEAD_LAST_EVENT_ID] = NAME("Last-Event-ID"),
    [HEAD_ORIGIN] = NAME("Origin"),
    [HEAD_FETCH_SITE] = NAME("Sec-Fetch-Site"),
    [HEAD_FORWARDED_HOST] = NAME("X-Forwarded-Host"),
    [HEAD_FORWARDED_PREFIX] = NAME("X-Forwarded-Prefix"),
    [HEAD_FORWARDED_PROTO] = NAME("X-Forwarded-Proto"),
    [HEAD_FORWARDED_FOR] = NAME("X-Forwarded-For"),
    [HEAD_CONTENT_LENGTH] = NAME("Content-Length"),
    [HEAD_TRANSFER_ENCODING] = NAME("Transfer-Encoding"),
#undef NAME
};

// --- What others could read otherwise ---

enum { LENGTH_DIGITS_MAX = 18 };  // some more and the library takes it for a body of unknown length

static bool has_space_or_control(const char *name, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if ((unsigned char)name[i] <= ' ' || name[i] == 0x7F) return true;
    }
    return false;
}

static bool has_control(const char *value, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7F) return true;
    }
    return false;
}

static bool is_length(const char *value) {
    size_t digits = strspn(value, "0123456789");
    return digits && digits <= LENGTH_DIGITS_MAX && !value[digits];
}

static bool is_odd_value(size_t field, const char *value) {
    if (field == HEAD_CONTENT_LENGTH) return !is_length(value);
    return field == HEAD_TRANSFER_ENCODING && strcasecmp(value, "chunked") != 0;
}

// --- The head ---

static size_t field_of(const char *name, size_t name_size) {
    size_t i = 0;
    while (i < HEAD_FIELDS && (names[i].size != name_size || strncasecmp(names[i].name, name, name_size) != 0)) i++;
    return i;
}

// Whoever hands a request on adds a line after those that it was sent.
static bool is_of_proxy(size_t field) {
    return field >= HEAD_FORWARDED_HOST && field <= HEAD_FORWARDED_FOR;
}

void head_take(struct head *head, const char *name, size_t name_size, const char *value, size_t value_size) {
    size_t field = field_of(name, name_size);
    const char *text = value ? value : "";
    head->has_odd_line |= has_space_or_control(name, name_size) || has_control(text, value ? value_size : 0) ||
                          is_odd_value(field, text);
    if (field < HEAD_FIELDS && (!head->counts[field]++ || is_of_proxy(field))) head->values[field] = value;
}

bool head_is_ambiguous(const struct head *head) {
    bool has_several = head->counts[HEAD_HOST] > 1 || head->counts[HEAD_ORIGIN] > 1;
    unsigned lengths = head->counts[HEAD_CONTENT_LENGTH] + head->counts[HEAD_TRANSFER_ENCODING];
    return head->has_odd_line || has_several || lengths > 1;
}

uint64_t head_body_bytes(const struct head *head) {
    const char *length = head->values[HEAD_CONTENT_LENGTH];
    return length ? strtoull(length, NULL, 10) : 0;
}
