// The texts of a columnar reply, each once: columns hold indexes into it. Index 0 is "".
//
//     instruction: [1, 2, 1]      strings: ["", "fusion.1", "copy.2"]
#pragma once

#include "analysis/base/id_map.h"
#include "server/text/json_writer.h"

struct string_table {
    struct arena *arena;
    struct bytes *texts;
    uint32_t count, capacity;
    struct id_map index_of;  // by id_map_key of the text
};

// False when the arena is at its limit.
bool string_table_init(struct string_table *table, struct arena *arena);

// The index of `text` (borrowed). At the arena's limit 0, and the table remembers that it failed.
uint32_t string_table_put(struct string_table *table, struct bytes text);

bool string_table_has_failed(const struct string_table *table);

// "strings": [...]
void string_table_write(const struct string_table *table, struct json_writer *w);
