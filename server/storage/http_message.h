// One question to an HTTP server, and its answer, as plain data: services write the one and read the other, the client
// (http_client.h) carries them. Texts lie on the arena of whoever makes them.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/input/reading.h"

enum { HTTP_HEADERS_MAX = 16 };

struct http_header {
    const char *name, *value;
};

struct http_question {
    const char *method;  // "GET"
    const char *origin;  // "https://storage.googleapis.com": scheme, host, port
    const char *path;    // "/bucket/a%20b": escaped
    const char *query;   // "list-type=2&prefix=a": escaped, sorted by name; "" is none
    struct http_header headers[HTTP_HEADERS_MAX];
    size_t header_count;
    struct bytes body;
    const char *about;         // what it asks for, in messages: "s3://bucket/a b"
    uint8_t *to;               // where the body of a good answer (2xx) goes; NULL: on the arena
    size_t limit_bytes;        // an answer with more of a body is refused
    const char *when_too_big;  // says so; NULL: the server is at fault
    bool has_secret;           // never follows a redirect
    bool is_of_machine;        // asked of a server of this machine's own: through no proxy
    struct reading *reading;   // who waits for the answer, told of its bytes as they come; NULL: nobody follows it
};

struct http_answer {
    int status;
    struct bytes body;
    const char *etag, *generation, *last_modified, *content_range, *location, *region;  // "": the server said none
};

// False: there are too many already (a defect of the caller).
static inline bool http_question_add(struct http_question *question, const char *name, const char *value) {
    if (question->header_count == HTTP_HEADERS_MAX) return false;
    question->headers[question->header_count++] = (struct http_header){name, value};
    return true;
}
