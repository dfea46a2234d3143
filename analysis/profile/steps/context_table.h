// Contexts: the pairs (type, id) by which an event says that it started, or was started by, work elsewhere.
//
//     (15, 26) --> context 0     16 ids in a row share a page: ids of a thread pool count up, so their look-ups
//     (15, 27) --> context 1     stay in a few cache lines
#pragma once

#include "analysis/base/id_map.h"
#include "analysis/base/large_block.h"

#define CONTEXT_NONE UINT32_MAX

struct context_table {
    struct id_map page_of;  // by hash of type and id / 16, or the next number that is free
    struct growing_block pages;
    uint32_t page_count;
    uint32_t count;  // contexts
};

// False when the arena is at its limit.
bool context_table_init(struct context_table *table, struct arena *arena);
void context_table_release(struct context_table *table);

// The number of a context, counting up in order of first appearance. CONTEXT_NONE when there is no memory.
uint32_t context_table_find(struct context_table *table, int64_t type, uint64_t id);

// Finds each context of `from` in `table`, adding those it has not: map[number in from] = number in table. `map` has
// room for from->count. False when there is no memory.
bool context_table_join(struct context_table *table, const struct context_table *from, uint32_t *map);
