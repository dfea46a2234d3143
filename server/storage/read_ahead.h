// Parts of objects on their way into the block cache, while whoever asked goes on.
//
//     ask(object, blocks 64..128) ──> [ piece | piece | piece ]  ──threads──>  block cache
//     wait(object, block 70)             ^ until this one is there, or has failed
//
// A piece is at most READ_AHEAD_PIECE_BYTES and one request, so that as many are under way as there are threads; these
// start when the first is asked for. It is a hint: a piece that fails, or finds the queue full, is not there, and
// whoever needs it asks for it and is told why. Thread-safe.
#pragma once

#include "server/storage/block_store.h"
#include "server/storage/opened_object.h"

enum { READ_AHEAD_PIECE_BYTES = 1 << 20, READ_AHEAD_THREADS = 8, READ_AHEAD_QUEUED_MAX = 64 };

struct read_ahead;

// Borrows `blocks`. NULL: no memory.
struct read_ahead *read_ahead_new(struct block_store *blocks);

// Ends what is under way. NULL is fine.
void read_ahead_free(struct read_ahead *ahead);

// Fetches the blocks [first, first + count), but for those that are there or on their way.
void read_ahead_ask(struct read_ahead *ahead, struct opened_object *object, uint64_t first, uint64_t count);

// Whether the block is on its way.
bool read_ahead_has(struct read_ahead *ahead, const struct opened_object *object, uint64_t block);

// Returns when the block is no longer on its way, or `reading` (NULL: nobody's) was stopped. False: it was not.
bool read_ahead_wait(struct read_ahead *ahead, const struct opened_object *object, uint64_t block,
                     struct reading *reading);

// Nobody reads the object any more: what has not begun is dropped.
void read_ahead_drop(struct read_ahead *ahead, const struct opened_object *object);
