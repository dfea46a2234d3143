// Keeps what the process takes near what it holds.
//
//     loads ... quiet for a second ------------------------------------.
//     own memory > what is counted (memory_room) + KEEPER_BESIDE_BYTES -+-> malloc_trim: what is free goes back
//     own memory - what is counted --> memory_room_leave: so much of --memory_limit is for other things
//
// Not at each load: it takes and frees much that is small, and the next one is quicker with memory that is there. One
// thread, which looks once a second, under a limit ten times, so for that long the process may take more. Only glibc
// keeps much of what was freed; with another C library there is nothing to give back.
#pragma once

#include "server/store/cache.h"
#include "server/store/resident_memory.h"

enum {
    KEEPER_BESIDE_BYTES = 24 << 20,   // is what threads, connections and libraries take, or to be given back
    KEEPER_PROGRAM_BYTES = 32 << 20,  // of a limit are for them at least
};

struct memory_keeper;

// NULL: no memory, or no thread. Borrows both.
struct memory_keeper *memory_keeper_new(struct cache *cache, const struct resident_count *resident);
void memory_keeper_free(struct memory_keeper *keeper);  // NULL is fine
