// Rows of a memory view in columns: "buffers" of /api/v1/memory_view and of its overview (docs/api.md).
//
//     rows of the view  ──>  "logical_buffer_id": [..], "size_bytes": [..], ... "instruction": [indexes of strings]
#pragma once

#include "analysis/memory/buffer_description.h"
#include "server/text/fields.h"

struct memory_row {
    int64_t logical_buffer_id, allocation, offset, size_bytes, unpadded_bytes;
    uint32_t start_step, end_step, category;
    uint32_t instruction, opcode, shape, op_name, source;  // into the string table
};

extern const struct field memory_row_fields[];  // int64_t and uint32_t alone

// A row of the describer's view; its texts in at most `longest` bytes each.
struct memory_row memory_row_of(const struct memory_buffer *buffer, size_t longest, struct buffer_describer *describer,
                                struct string_table *strings);
