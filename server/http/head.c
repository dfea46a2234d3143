#include "server/http/head.h"

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

void head_take(struct head *head, const char *name, size_t name_size, const char *value) {
    size_t i = 0;
    while (i < HEAD_FIELDS && (names[i].size != name_size || strncasecmp(names[i].name, name, name_size) != 0)) i++;
    if (i < HEAD_FIELDS && !head->counts[i]++) head->values[i] = value;
}

bool head_is_ambiguous(const struct head *head) {
    return head->counts[HEAD_HOST] > 1 || head->counts[HEAD_CONTENT_LENGTH] + head->counts[HEAD_TRANSFER_ENCODING] > 1;
}
