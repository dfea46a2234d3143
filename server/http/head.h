// The headers that count of a request's head, each found while the head is gone through once.
//
//     Host: box:6006          values[HEAD_HOST]   "box:6006"    counts[HEAD_HOST]   1
//     Cookie: a=1             values[HEAD_COOKIE] "a=1"         counts[HEAD_COOKIE] 1
//     User-Agent: ...         not kept
//
// Of several with one name the first counts, of a proxy's (X-Forwarded-*) the last. It borrows the values, and of what
// is in them it says only whether another reader could see more or less there: a control character, a space before the
// colon, a length that is none. Of a value with a NUL in it libmicrohttpd hands over what stands before that, and of
// the rest nothing can be said here.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum head_field {
    HEAD_HOST,
    HEAD_COOKIE,
    HEAD_AUTHORIZATION,
    HEAD_ACCEPT_ENCODING,
    HEAD_IF_NONE_MATCH,
    HEAD_LAST_EVENT_ID,
    HEAD_ORIGIN,
    HEAD_FETCH_SITE,
    HEAD_FORWARDED_HOST,
    HEAD_FORWARDED_PREFIX,
    HEAD_FORWARDED_PROTO,
    HEAD_FORWARDED_FOR,
    HEAD_CONTENT_LENGTH,
    HEAD_TRANSFER_ENCODING,
    HEAD_FIELDS
};

struct head {
    const char *values[HEAD_FIELDS];  // NULL: absent
    unsigned counts[HEAD_FIELDS];
    bool has_odd_line;
};

// NULL: there is no value.
void head_take(struct head *head, const char *name, size_t name_size, const char *value, size_t value_size);

// What its length says; 0: nothing.
uint64_t head_body_bytes(const struct head *head);

// Two readers could take it for different requests: a proxy before us, and us.
bool head_is_ambiguous(const struct head *head);
