// One HTTP exchange: the request, its body, and the reply while it is made and sent. It knows no library: http.c makes
// one when a request's first line arrives, fills it, and frees it after the reply was sent.
//
//     first line --> exchange_begin --head--> the request's fields --body--> bodies.h --> exchange_answer --> `reply`
//                                                          --> exchange_goes_out: counted --> exchange_end: logged
#pragma once

#include "server/app.h"
#include "server/http/bodies.h"
#include "server/http/reply.h"
#include "server/http/under_way.h"
#include "server/http/unsent.h"
#include "server/http/workers.h"

struct exchange {
    struct request request;
    struct forwarded forwarded;
    struct reply reply;
    struct reading reading;
    struct under_way_request under_way;
    struct worker_job job;
    atomic_bool missed;  // something that is not kept, while it may not load
    int64_t begun_ns;
    struct body body;             // what the client sends
    struct unsent_answer unsent;  // what it is sent
    size_t body_limit;
    uint64_t announced_bytes;  // of the body; 0: there is none, or it is not known
    size_t came_bytes;         // of the body, kept or not
    bool has_begun;            // the head is known
    bool has_bad_name;         // an argument has a NUL inside, or there are too many
    bool is_known_whole;       // by whoever reads the connection
    bool is_for_worker;        // it cannot be answered at once
    bool is_answered;          // `reply` is there
    bool is_sent;              // and handed on
    uint64_t reply_bytes;      // a stream's grow as it goes
    char target[];             // as it came: not on the arena, so that whether it lives can be asked without any room
};

// NULL: no memory. `target` as it came.
struct exchange *exchange_begin(const struct app *app, const char *target, int socket);

// Takes note of an argument, whose name and value have these sizes. False: it is one that cannot be.
bool exchange_add_argument(struct exchange *exchange, const char *name, size_t name_size, const char *value,
                           size_t value_size);

// Whether so large a body is announced that it is answered before any of it is read. Another one that is too large is
// read to its end, so that its sender gets to see the answer, but not kept: whatever is kept, as many bytes are read,
// else that would tell who has the token.
bool exchange_refuses_length(struct exchange *exchange);

// False for a body that does not end.
bool exchange_take_body(struct exchange *exchange, struct bodies *bodies, struct bytes piece);

// All of it is there. True: what it asks is for a worker (exchange_answer); else `reply` says already why not.
bool exchange_is_to_be_answered(struct exchange *exchange);

// Answers what needs neither a file nor much work. False: it is for a worker.
bool exchange_answer_at_once(struct exchange *exchange);

// Where others see it wait, before it is handed to a worker.
void exchange_goes_under_way(struct exchange *exchange);

// Where it waits no more: nobody answers it.
void exchange_leaves(struct exchange *exchange);

// False: it has to load something, which it may not (work.h); then it is as before.
bool exchange_answer(struct exchange *exchange, bool may_load);

// Its head can be read in two ways.
void exchange_refuse_head(struct exchange *exchange);

// Nobody can answer it now.
void exchange_refuse_busy(struct exchange *exchange);

// The reply was handed on, and not a byte of it sent yet: who has an answer finds it counted.
void exchange_goes_out(struct exchange *exchange);

void exchange_end(struct exchange *exchange);   // logs it, and counts a stream
void exchange_free(struct exchange *exchange);  // NULL is fine
