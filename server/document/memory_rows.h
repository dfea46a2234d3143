// Rows of a memory view in columns: "buffers" of /api/v1/memory_view and of its overview (docs/api.md).
//
//     rows of the view  ──>  "logical_buffer_id": [..], "size_bytes": [..], ... "instruction": [indexes of strings]
//
// As differences, the columns that mostly grow from row to row are told as what they differ from the row before (the
// first from 0): the same facts, packed to half.
#pragma once

#include "analysis/memory/buffer_description.h"
#include "server/text/json_writer.h"

struct memory_rows {
    uint32_t count;
    int64_t *logical_buffer_id, *allocation, *offset, *size_bytes, *unpadded_bytes;
    uint32_t *start_step, *end_step, *category;
    uint32_t *instruction, *opcode, *shape, *op_name, *source;  // into the string table
};

// Room for `most` rows on `arena`. False at its limit.
MUST_USE bool memory_rows_init(struct memory_rows *rows, uint32_t most, struct arena *arena);

// Adds a row of the describer's view; its texts in at most `longest` bytes each.
void memory_rows_add(struct memory_rows *rows, const struct memory_view *view, uint32_t row, size_t longest,
                     struct buffer_describer *describer, struct string_table *strings);

// The columns, as keys of an open object.
void memory_rows_write(const struct memory_rows *rows, bool as_differences, struct json_writer *w);

// The names of the columns that can be told as differences, as values of an open array.
void memory_rows_delta_write(struct json_writer *w);
