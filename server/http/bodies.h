// What clients send, while it comes and until it is answered: all of it together has one budget.
//
//     body_append --> pages of its own (given back at once, whatever the allocator keeps)
//                 --> beyond the budget, or its address's share: the slowest unfinished body of at least a second's age
//                     makes room, of its own address or one that has as much; else this one is refused
//
// An address may have as much as it leaves free: half of the budget when it is alone, and what others hold to be
// answered never keeps a newcomer out. The last sixteenth is for small bodies.
//
// Slow is who sent few bytes for each second so far; so an honest body gets through however many of an address dawdle.
// Whoever made room is told so when the rest of it has come. Nothing is written to a disk: the server writes nowhere.
// Thread-safe.
#pragma once

#include "analysis/base/large_block.h"
#include "proto/bytes.h"
#include "server/http/client_address.h"

enum { BODIES_MAX_BYTES = 64 << 20, BODIES_SMALL_BYTES = 64 << 10, BODIES_SMALL_PART = 16 };

struct bodies;
struct body_owner;

enum body_fate { BODY_KEPT, BODY_TOO_LARGE, BODY_NO_ROOM, BODY_NO_MEMORY, BODY_MADE_ROOM };

struct body {
    struct bodies *bodies;
    struct body_owner *owner;    // NULL: there was no memory for it
    struct body *newer, *older;  // while it is unfinished
    struct growing_block block;
    size_t size, limit_bytes;
    int64_t begun_ms;
    bool is_linked;
    enum body_fate fate;
};

// NULL: no memory.
struct bodies *bodies_new(size_t max_bytes);
void bodies_free(struct bodies *bodies);  // no body is left; NULL is fine

void body_begin(struct bodies *bodies, struct body *body, const struct client_address *client, size_t limit_bytes);
void body_append(struct body *body, struct bytes piece);

// All of it has come: from now on it does not make room. What it is, for as long as it is not ended.
enum body_fate body_finish(struct body *body);
struct bytes body_bytes(const struct body *body);

void body_end(struct body *body);  // of one that never began too
