#include "server/document/memory_rows.h"

#define ROW(name) FIELD(#name, struct memory_row, name)
#define GROWING(name) FIELD_GROWING(#name, struct memory_row, name)

const struct field memory_row_fields[] = {
    GROWING(logical_buffer_id),
    ROW(allocation),
    ROW(offset),
    ROW(size_bytes),
    ROW(unpadded_bytes),
    GROWING(start_step),
    GROWING(end_step),
    ROW(category),
    GROWING(instruction),
    ROW(opcode),
    ROW(shape),
    GROWING(op_name),
    GROWING(source),
    FIELD_END,
};

static uint32_t put(struct string_table *strings, struct bytes text, size_t longest) {
    if (text.size > longest) text.size = longest;
    return string_table_put(strings, text);
}

struct memory_row memory_row_of(const struct memory_buffer *buffer, size_t longest, struct buffer_describer *describer,
                                struct string_table *strings) {
    const struct hlo_module *module = describer->module;
    struct buffer_description words = buffer_describe(describer, buffer->buffer);
    struct memory_row row = {
        .logical_buffer_id = buffer->buffer == HLO_NONE ? -1 : module->buffers[buffer->buffer].id,
        .allocation = buffer->allocation == HLO_NONE ? -1 : module->allocations[buffer->allocation].index,
        .offset = buffer->offset,
        .size_bytes = buffer->size_bytes,
        .unpadded_bytes = buffer->unpadded_bytes,
        .start_step = buffer->start_step,
        .end_step = buffer->end_step,
        .category = (uint32_t)buffer->category,
    };
    row.instruction = put(strings, words.name, longest);
    row.opcode = put(strings, words.opcode, longest);
    row.shape = put(strings, words.shape, longest);
    row.op_name = put(strings, words.op_name, longest);
    row.source = put(strings, buffer_source_text(&words, describer->arena), longest);
    return row;
}
