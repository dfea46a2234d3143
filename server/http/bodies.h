// What clients send, while it comes and until it is answered: all of it together has one budget.
//
//     body_append --> pages of its own (given back at once, whatever the allocator keeps)
//                 --> beyond the budget: the slowest unfinished body of at least a second's age makes room, else this
//                     one is refused
//
// Slow is who sent few bytes for each second so far; so an honest body gets through however many dawdle. Whoever made
// room is told so when the rest of it has come. Nothing is written to a disk: the server writes nowhere. Thread-safe.
#pragma once

#include "analysis/base/large_block.h"
#include "proto/bytes.h"

enum { BODIES_MAX_BYTES = 64 << 20 };

struct bodies;

enum body_fate { BODY_KEPT, BODY_TOO_LARGE, BODY_NO_ROOM, BODY_MADE_ROOM };

struct body {
    struct bodies *bodies;
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

void body_begin(struct bodies *bodies, struct body *body, size_t limit_bytes);
void body_append(struct body *body, struct bytes piece);

// All of it has come: from now on it does not make room. What it is, for as long as it is not ended.
enum body_fate body_finish(struct body *body);
struct bytes body_bytes(const struct body *body);

void body_end(struct body *body);  // of one that never began too
