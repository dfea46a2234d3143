// What one piece of work holds while it runs: a request, a background job, a command.
//
//     work ──> arena                 names, small structs: gone at the end
//          ──> pins ──> pin ──> ...  cache entries in use, and other things to release, newest first
//
// So handlers need no clean-up paths: work_free gives everything back. One thread at a time.
#pragma once

#include <stdatomic.h>

#include "analysis/base/arena.h"
#include "server/store/cache.h"

enum { WORK_ARENA_LIMIT_BYTES = 1 << 30 };

struct work_pin;

struct work {
    struct arena arena;
    struct cache *cache;
    struct reading *reading;  // who follows what it reads, and may stop it; NULL: nobody
    bool is_urgent;           // somebody waits for a short answer: it does not queue behind other loads
    atomic_bool *missed;      // not NULL: it only looks whether what is kept will do; true once it did not
    struct work_pin *pins;
};

void work_init(struct work *work, struct cache *cache);

// A part of what `asker` does, with a life of its own.
void work_init_for(struct work *work, const struct work *asker);

// Gives the cache entries back before the end: what was to be made of them is made. What was deferred stays.
void work_unpin(struct work *work);

void work_free(struct work *work);

// The data of the cache entry of `key`, pinned until the work ends. NULL: *error is filled.
MUST_USE void *work_get(struct work *work, const char *key, struct load_wish wish, cache_load *load, void *context,
                        struct error *error);

// The same when it is in the cache already, else NULL at once.
MUST_USE void *work_peek(struct work *work, const char *key);

// Whether anything may be loaded for it. False: that something was to be is noted, and what it makes is of no use.
MUST_USE bool work_may_load(const struct work *work);
bool work_has_missed(const struct work *work);

// Calls release(thing) when the work ends. When there is no memory to remember that: at once, and false.
MUST_USE bool work_defer(struct work *work, void (*release)(void *thing), void *thing);

// Calls release at once for all things that were deferred to it.
void work_release(struct work *work, void (*release)(void *thing));

// Fills *error for an arena at its limit, and returns false.
bool work_out_of_memory(struct error *error);
