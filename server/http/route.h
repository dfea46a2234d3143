// Which handler answers a path: a row of a table. A row says also which methods its address takes and how large a body.
#pragma once

#include "server/http/reply.h"

enum { ROUTE_GET = 0 };

struct route {
    const char *path;
    enum reply_family family;
    request_handler *handler;
    size_t post_bytes;  // ROUTE_GET: it takes GET and HEAD; else POST, with a body of so much from those who may use it
};

struct routes {
    const struct route *rows;
    size_t count;
};

// The row of that path, whether or not a slash ends it; NULL: there is none.
const struct route *route_find(struct routes routes, const char *path);
