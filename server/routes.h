// Which handler answers which path. Two families, which differ in how errors look:
//
//     /api/v1/...                                our API: JSON errors
//     /data/plugin/profile/NAME, also /NAME      XProf's routes: text errors
//     anything else                              the page: an asset, or index.html for paths without a dot (deep links)
//
// A trailing slash does not matter. Methods other than GET and HEAD are refused before a handler runs; explain takes
// POST, with a larger body, and nothing else.
#pragma once

#include "server/http/reply.h"

enum route_family { ROUTE_API, ROUTE_XPROF, ROUTE_PAGE };

struct route {
    const char *path;
    enum route_family family;
    request_handler *handler;
};

// The route of a decoded path. Never NULL.
const struct route *route_of(const struct request *request);

// How many bytes of a body are read before the request is refused: much only for POST routes, and only from those who
// may use the server.
size_t routes_body_limit(const struct request *request);

// Answers the request: access, method, handler, errors, entity tag, compression.
void routes_answer(struct request *request, struct reply *reply);
