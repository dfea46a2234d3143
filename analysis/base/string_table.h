// Texts by number, each once: the columns of a profile or of a reply hold the numbers.
//
//     instruction: [1, 2, 1]      texts: ["", "fusion.1", "copy.2"]      0 is "", always
//
// Whose bytes they are: string_table_put borrows the caller's, which live as long as the table is read;
// string_table_copy keeps its own, on the arena it is given. The table itself lies on `arena`.
#pragma once

#include "analysis/base/id_map.h"

struct string_table {
    struct arena *arena;
    struct bytes *texts;
    uint32_t count;
    struct id_map index_of;  // by id_map_key of the text, or the next one that is free
    bool has_failed;         // an arena was at its limit
};

static inline bool string_table_has_failed(const struct string_table *table) {
    return table->has_failed;
}

// False when the arena is at its limit.
bool string_table_init(struct string_table *table, struct arena *arena);

// The number of `text`. At an arena's limit 0, and the table remembers that it failed.
uint32_t string_table_put(struct string_table *table, struct bytes text);
uint32_t string_table_copy(struct string_table *table, struct bytes text, struct arena *arena);

// The number of a text that is there, else 0.
uint32_t string_table_find(const struct string_table *table, struct bytes text);
