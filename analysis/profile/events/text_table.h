// Texts by number: each text of a profile stands in memory once.
//
//     "MatMul" -> 1     "" -> 0, always
//
// Texts are copied onto the arena and live as long as it.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/index_table.h"

struct text_table {
    struct arena *arena;
    struct growing_block texts;  // struct bytes each
    uint32_t count;
    struct index_table index;
    uint64_t seed;
};

bool text_table_init(struct text_table *table, struct arena *arena);
void text_table_release(struct text_table *table);

// INDEX_NONE when there is no memory.
uint32_t text_table_put(struct text_table *table, struct bytes text);
struct bytes text_table_get(const struct text_table *table, uint32_t number);
