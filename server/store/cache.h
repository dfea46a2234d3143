// What was read or computed once and may be asked for again: file indexes, loaded modules, encoded replies.
//
//     key ──> entry { value, cost, users }        table of all entries; the budget pays for keys and entries too
//             in use (users > 0)                  kept, whatever the budget says
//             not in use                          in the LRU list; the oldest go when the budget is passed
//
// A value larger than the whole budget would drive out all others: it goes as soon as nobody uses it, and does not
// count until then.
//
// - One load at a time for a key: whoever asks while it is being loaded waits and gets the same entry.
// - Errors are handed to everybody who waited, and not kept: the next request tries again.
// - Values are immutable once loaded, so that users need no lock. One that has a lock of its own may grow in use; what
//   it costs is asked again when nobody uses it.
// - How many loaders run at once is bounded, and with it the memory of cold work (load_slots.h). A loader may ask the
//   cache for what it needs; its slot is lent out while it waits for another thread's load.
// - A load goes on as long as anybody wants it. When all who wait for it have gone (cache_abandon), what it reads is
//   stopped; whoever asks meanwhile gets a load of its own.
//
//     request 1 (gone) -- loads --> reply -- needs, loads --> module    request 2 still waits: both go on
//     request 2 --------- waits ----^                                   gone as well: the module's reading is stopped
//
// Thread-safe.
#pragma once

#include <stddef.h>

#include "server/store/load_slots.h"

struct cache;
struct cache_entry;

struct cache_value {
    void *data;
    size_t cost_bytes;
    void (*destroy)(void *data);
    size_t (*cost_now)(void *data);  // of a value that grows; NULL: it does not
};

// Fills *value, or fills *error and returns false.
typedef bool cache_load(void *context, struct cache_value *value, struct error *error);

// NULL when there is no memory.
struct cache *cache_new(size_t budget_bytes, unsigned parallel_loads);

// No entry may be in use, no load running.
void cache_free(struct cache *cache);

// The entry of `key`, loaded when it is not there, for whoever follows `reading` (NULL: somebody who never goes). Give
// it back with cache_release. NULL: *error is filled.
MUST_USE struct cache_entry *cache_get(struct cache *cache, const char *key, struct load_wish wish, cache_load *load,
                                       void *context, struct reading *reading, struct error *error);

// Whoever followed `reading` has gone. Stops it as soon as nobody else waits for what is loaded on its behalf.
void cache_abandon(struct cache *cache, struct reading *reading);

// What is read for whoever follows `reading`: by itself, or by the load of somebody else that it waits for.
struct reading_state cache_look(struct cache *cache, struct reading *reading);

// The entry when it is there already, else NULL at once.
MUST_USE struct cache_entry *cache_peek(struct cache *cache, const char *key);

void cache_release(struct cache *cache, struct cache_entry *entry);

void *cache_data(const struct cache_entry *entry);

// A slot for work that is not kept in the cache, in the turn of whoever has `reading`.
void cache_take_slot(struct cache *cache, struct load_wish wish, const struct reading *reading,
                     struct load_wish *outer);
void cache_give_slot(struct cache *cache, struct load_wish wish, const struct load_wish *outer);

// Drops what nobody uses, the oldest first, until `bytes` are free. False: nothing was left to drop.
bool cache_make_room(struct cache *cache, size_t bytes);

// What an entry takes beside the cost of its value: as much as a small value, or more.
size_t cache_entry_bytes(const char *key);

struct cache_stats {
    size_t budget_bytes, entries, used_bytes, loads, evictions, hits, failures;
    uint64_t load_ns;  // of all loads, each with those inside it
    struct load_counts load_counts;
};
struct cache_stats cache_stats_read(struct cache *cache);
