// A reply as libmicrohttpd sends it: its status line, headers and body.
//
//     reply ──> headers of all answers, headers of this one, body ──> response ──> queued on a connection
//
// To make one costs as much as everything else that an answer at hand costs: three allocations for a header. So a body
// that the cache keeps has its responses beside it, each made when it is first asked for:
//
//     kept body ──> ready_responses   [answered: 200 | 304] x [asked for: plainly | from a secure place]
//                   `- `reply->ready`; whoever sends one has the body pinned, so it is not freed meanwhile
//
// It writes nothing itself, and makes no streams: http.c does, of which it adds the headers.
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct MHD_Connection;
struct MHD_Response;
struct reply;
struct request;

enum { READY_RESPONSES = 4, READY_RESPONSE_BYTES = 3 << 10 };  // what one takes, about

struct ready_responses {
    struct MHD_Response *_Atomic places[READY_RESPONSES];
};

// Nobody sends them any more.
void ready_responses_free(struct ready_responses *ready);

// What they take now.
size_t ready_responses_bytes(const struct ready_responses *ready);

// False: no memory for one of them.
bool response_add_headers(struct MHD_Response *response, const struct request *request, const struct reply *reply);

// Sends a reply that is no stream, whose body lives until the exchange ends. False: it cannot be sent.
bool response_queue(struct MHD_Connection *connection, const struct request *request, const struct reply *reply);
