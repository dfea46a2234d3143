// How much of the process's memory files, their answers and bodies take, and how much they may: one count, one limit.
//
//     arenas, outputs, growing blocks --> memory_room_take --beyond the limit--> make_room: what is kept is dropped,
//     (large_block.h)                 <-- memory_room_give                       and once more; else there is no memory
//
// It counts what the system was asked for, whether touched or not, so the process never takes more for these things
// than the limit says. It does not count what is small (list nodes, names of sessions, the keys of caches), nor what
// libraries take; whoever sets the limit leaves room for that (server/store/memory_keeper.h measures it).
//
// The count is the process's own, as malloc's memory is. Thread-safe.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Gives back `bytes`, or some of them; false: nothing is left to give. Called by whoever takes memory, wherever that
// is: it may hold any lock but those under which memory is given back.
typedef bool memory_room_make(void *context, size_t bytes);

// From now on. A limit of 0: none. Whoever sets it has one thread.
void memory_room_set(size_t limit_bytes, memory_room_make *make_room, void *context);

// How much of the limit is for other things.
void memory_room_leave(size_t bytes);

// False: there is no room for so much more, and none can be made.
bool memory_room_take(size_t bytes);
void memory_room_give(size_t bytes);

size_t memory_room_taken(void);
size_t memory_room_limit(void);  // 0: none

// Whether so much of it is taken that large work had better come one at a time.
bool memory_room_is_tight(void);
