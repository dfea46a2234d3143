#include "server/document/memory_rows.h"

#include "analysis/base/text_writer.h"

bool memory_rows_init(struct memory_rows *rows, uint32_t most, struct arena *arena) {
    *rows = (struct memory_rows){0};
    int64_t **wide[] = {&rows->logical_buffer_id, &rows->allocation, &rows->offset, &rows->size_bytes,
                        &rows->unpadded_bytes};
    uint32_t **narrow[] = {&rows->start_step, &rows->end_step, &rows->category, &rows->instruction,
                           &rows->opcode,     &rows->shape,    &rows->op_name,  &rows->source};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; i++) {
        if (!(*wide[i] = arena_push_raw(arena, most, sizeof(int64_t)))) return false;
    }
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++) {
        if (!(*narrow[i] = arena_push_raw(arena, most, sizeof(uint32_t)))) return false;
    }
    return true;
}

static struct bytes source_text(const struct buffer_description *buffer, struct arena *arena) {
    if (!buffer->source_file.size) return (struct bytes){0};
    struct text_writer text = {.arena = arena};
    text_put_bytes(&text, buffer->source_file);
    text_put(&text, ":");
    text_put_int64(&text, buffer->source_line);
    const char *written = text_writer_finish(&text);
    return written ? bytes_of(written) : (struct bytes){0};
}

static uint32_t put(struct string_table *strings, struct bytes text, size_t longest) {
    if (text.size > longest) text.size = longest;
    return string_table_put(strings, text);
}

static void fill_words(struct memory_rows *rows, uint32_t buffer, size_t longest, struct buffer_describer *describer,
                       struct string_table *strings) {
    struct buffer_description words = buffer_describe(describer, buffer);
    rows->instruction[rows->count] = put(strings, words.name, longest);
    rows->opcode[rows->count] = put(strings, words.opcode, longest);
    rows->shape[rows->count] = put(strings, words.shape, longest);
    rows->op_name[rows->count] = put(strings, words.op_name, longest);
    rows->source[rows->count] = put(strings, source_text(&words, describer->arena), longest);
}

void memory_rows_add(struct memory_rows *rows, const struct memory_view *view, uint32_t row, size_t longest,
                     struct buffer_describer *describer, struct string_table *strings) {
    const struct hlo_module *module = view->module;
    const struct memory_buffer *from = &view->rows[row];
    uint32_t i = rows->count;
    rows->logical_buffer_id[i] = from->buffer == HLO_NONE ? -1 : module->buffers[from->buffer].id;
    rows->allocation[i] = from->allocation == HLO_NONE ? -1 : module->allocations[from->allocation].index;
    rows->offset[i] = from->offset;
    rows->size_bytes[i] = from->size_bytes;
    rows->unpadded_bytes[i] = from->unpadded_bytes;
    rows->start_step[i] = from->start_step;
    rows->end_step[i] = from->end_step;
    rows->category[i] = (uint32_t)from->category;
    fill_words(rows, from->buffer, longest, describer, strings);
    rows->count++;
}

void memory_rows_write(const struct memory_rows *rows, bool as_differences, struct json_writer *w) {
    json_int64_column *wide = as_differences ? json_write_int64_differences : json_write_int64_column;
    json_uint32_column *narrow = as_differences ? json_write_uint32_differences : json_write_uint32_column;
    wide(w, "logical_buffer_id", rows->logical_buffer_id, rows->count);
    json_write_int64_column(w, "allocation", rows->allocation, rows->count);
    json_write_int64_column(w, "offset", rows->offset, rows->count);
    json_write_int64_column(w, "size_bytes", rows->size_bytes, rows->count);
    json_write_int64_column(w, "unpadded_bytes", rows->unpadded_bytes, rows->count);
    narrow(w, "start_step", rows->start_step, rows->count);
    narrow(w, "end_step", rows->end_step, rows->count);
    json_write_uint32_column(w, "category", rows->category, rows->count);
    narrow(w, "instruction", rows->instruction, rows->count);
    json_write_uint32_column(w, "opcode", rows->opcode, rows->count);
    json_write_uint32_column(w, "shape", rows->shape, rows->count);
    narrow(w, "op_name", rows->op_name, rows->count);
    narrow(w, "source", rows->source, rows->count);
}

void memory_rows_delta_write(struct json_writer *w) {
    static const char *const keys[] = {"logical_buffer_id", "start_step", "end_step",
                                       "instruction",       "op_name",    "source"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) json_write_text(w, keys[i]);
}
