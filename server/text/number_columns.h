// Columns of numbers that are filled row by row and written column by column.
//
//     keys      "op"  "count"  "bytes"          number_columns_row(&columns, 1)  -> [ 2, 4, 512 ]
//     row 0        1        3      768
//     row 1        2        4      512    -->   "op":[1,2],"count":[3,4],"bytes":[768,512]
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "server/text/json_writer.h"

struct number_columns {
    const char *const *keys;
    size_t key_count, row_count;
    int64_t *values;  // row by row
};

// False when the arena is at its limit.
MUST_USE bool number_columns_make(struct number_columns *columns, const char *const *keys, size_t key_count,
                                  size_t row_count, struct arena *arena);

// The values of a row, to be filled in the order of the keys.
static inline int64_t *number_columns_row(struct number_columns *columns, size_t row) {
    return columns->values + row * columns->key_count;
}

// Keys of an open object.
void number_columns_write(const struct number_columns *columns, struct json_writer *w);
