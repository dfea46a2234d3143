// A table of short texts, for terminals and for Markdown.
//
//     SESSION           MODULE                SPACE        PEAK      right: numbers, never shortened
//     v5e_gpt_12la…oom  jit_train_step(1)     HBM     52.93 GiB      left; those that shrink lose their middle
//         jit(step)/dot_general  train.py:55                         below: on a line of its own (a column in Markdown)
//
// Cells are copied, and made fit for a terminal (printable.h); an empty or NULL one stays empty.
#pragma once

#include "analysis/base/arena.h"
#include "server/text/output.h"

enum table_place { TABLE_LEFT, TABLE_SHRINKING, TABLE_RIGHT, TABLE_BELOW };  // what stands below shrinks as well

struct table_column {
    const char *title;
    enum table_place place;
    bool is_hidden;
};

enum { TABLE_COLUMNS_MAX = 12 };

struct table {
    const struct table_column *columns;
    size_t column_count;
    const char **cells;  // row by row
    size_t row_count;
    struct arena *arena;
    bool has_failed;  // no memory: rows are missing
};

// At most TABLE_COLUMNS_MAX columns, the ones below last.
struct table table_make(const struct table_column *columns, size_t column_count, struct arena *arena);

// A row of texts, TABLE_ADD(&table, name, size, ...): in the order of the columns, the last ones may be left out.
#define TABLE_CELLS(...) ((const char *const[]){__VA_ARGS__})
#define TABLE_ADD(table, ...)                                                                                          \
    table_add((table), TABLE_CELLS(__VA_ARGS__), sizeof TABLE_CELLS(__VA_ARGS__) / sizeof(const char *))
void table_add(struct table *table, const char *const *cells, size_t count);

// In at most `width` columns, as far as the columns that can shrink allow.
void table_write_text(const struct table *table, size_t width, struct output *output);
void table_write_markdown(const struct table *table, struct output *output);

// Escapes what Markdown would take for its own in a table cell.
void table_write_markdown_text(const char *text, struct output *output);
