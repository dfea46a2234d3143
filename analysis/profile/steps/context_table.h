// Contexts: the pairs (type, id) by which an event says that it started, or was started by, work elsewhere.
//
//     (15, 26) --> context 0     16 ids in a row share a page: ids of a thread pool count up, so their look-ups
//     (15, 27) --> context 1     stay in a few cache lines
//
// Open addressing over pages; hashed with a seed that differs from run to run. Grows as it fills.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/large_block.h"

#define CONTEXT_NONE UINT32_MAX

struct context_table {
    struct growing_block slots, pages;
    uint64_t slot_count, page_count;
    uint32_t count;  // contexts
    uint64_t seed;
};

void context_table_init(struct context_table *table);
void context_table_release(struct context_table *table);

// The number of a context, counting up in order of first appearance. CONTEXT_NONE when there is no memory.
uint32_t context_table_find(struct context_table *table, int64_t type, uint64_t id);

// Finds each context of `from` in `table`, adding those it has not: map[number in from] = number in table. `map` has
// room for from->count. False when there is no memory.
bool context_table_join(struct context_table *table, const struct context_table *from, uint32_t *map);
