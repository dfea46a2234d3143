// Which handler answers a path: a row of a table. A row says also which methods its address takes and how large a body.
#pragma once

#include "server/http/reply.h"

enum { ROUTE_GET = 0 };

// What is said of a row of our API: the one place from which its arguments are read (request_query finds no other) and
// /api/v1/openapi.json is written.
struct route_words {
    const char *takes;    // the names of its arguments, in order, a "!" after those that must be there: "session! host"
    const char *answers;  // the form of its answer (answer_schema.h); "": none of JSON, see `content_type`
    const char *content_type;
    const char *summary;
    const char *body;  // the form of the JSON that is sent to it; NULL: text, or nothing
};

struct route {
    const char *path;
    enum reply_family family;
    request_handler *handler;
    size_t post_bytes;  // ROUTE_GET: it takes GET and HEAD; else POST, with a body of so much from those who may use it
    const struct route_words *words;  // of our API; NULL: it may read any argument
};

struct routes {
    const struct route *rows;
    size_t count;
};

// The row of that path, whether or not a slash ends it; NULL: there is none.
const struct route *route_find(struct routes routes, const char *path);
