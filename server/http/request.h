// One HTTP request, as handlers see it: method, path, query and a few headers, all plain NUL-terminated strings that
// live as long as the request.
//
// The request lives until its reply has been sent, so a reply may borrow from the request's work (arena, pinned cache
// entries, deferred outputs).
#pragma once

#include "server/http/client_address.h"
#include "server/http/forwarded.h"
#include "server/store/work.h"

enum { REQUEST_BODY_LIMIT_BYTES = 64 << 10, REQUEST_QUERY_MAX = 64 };

struct app;

struct request_argument {
    const char *name, *value;
};

struct request_headers {  // NULL when absent
    const char *host, *cookie, *authorization, *accept_encoding, *if_none_match, *last_event_id, *origin, *fetch_site;
};

struct request {
    const struct app *app;
    struct work work;
    const char *method;
    const char *target;  // the URL as it came: path and query, still encoded
    const char *path;    // decoded, without the query and the prefix of a proxy
    struct request_argument query[REQUEST_QUERY_MAX];
    size_t query_count;
    const char *takes;  // the arguments that its route declares (route_words); NULL: any
    struct request_headers headers;
    const struct forwarded *forwarded;  // what a trusted proxy tells; NULL: nothing
    struct client_address client;       // as a trusted proxy tells it, where there is one
    bool has_token;                     // or needs none: it was let in
    struct bytes body;
};

// The first value of a query argument; NULL when it is absent, or when the route does not declare it.
const char *request_query(const struct request *request, const char *name);

// The same, NULL also when it is empty.
const char *request_given(const struct request *request, const char *name);

// The value of an argument that must be there and not empty; else ERROR_BAD_REQUEST.
MUST_USE bool request_need(const struct request *request, const char *name, const char **value, struct error *error);

// A decimal number, `otherwise` when the argument is absent or empty. ERROR_BAD_REQUEST for anything else.
MUST_USE bool request_int64(const struct request *request, const char *name, int64_t otherwise, int64_t *value,
                            struct error *error);

// A `capacity` (device_capacity_read), `otherwise` when it is absent or empty. ERROR_BAD_REQUEST for anything else.
MUST_USE bool request_capacity(const struct request *request, int64_t otherwise, int64_t *bytes, struct error *error);

// Whether the client takes gzip (Accept-Encoding, with q values).
bool request_accepts_gzip(const struct request *request);
