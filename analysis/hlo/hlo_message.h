// The messages of an HloProto as its loaders (hlo_load*.c) read them: columns for their parts, and what is wrong with
// them. Private to this room.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "proto/wire.h"

// A column whose length shows while its messages are read. `rows` moves as it grows.
struct hlo_column {
    struct arena *arena;
    size_t row_size;
    void *rows;
    uint32_t count, capacity;
};

// With room for as many rows as messages of `bytes` have when each takes `bytes_a_row`. False at the arena's limit.
MUST_USE bool hlo_column_start(struct hlo_column *column, struct arena *arena, size_t row_size, size_t bytes,
                               size_t bytes_a_row);
MUST_USE bool hlo_column_grow(struct hlo_column *column);

// The next row, to be filled at once. NULL at the arena's limit.
static inline void *hlo_column_push(struct hlo_column *column) {
    if (column->count == column->capacity && !hlo_column_grow(column)) return NULL;
    return (char *)column->rows + column->row_size * column->count++;
}

// Turns a cursor's fault into an error with the offset inside `blob`; returns false.
bool hlo_message_fault(struct error *error, struct bytes blob, const struct wire *w, const char *message_name);

// A module too big for its arena; returns false.
bool hlo_message_too_big(struct error *error, const struct arena *arena);
