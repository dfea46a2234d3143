#include "server/xprof/xprof_peak.h"

// Colours carry no meaning in XProf; these differ enough for neighbours to be told apart.
static const char *block_color(uint32_t number) {
    static const char *const colors[] = {"#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2",
                                         "#edc948", "#b07aa1", "#9c755f", "#86bcb6", "#d37295"};
    return colors[number % (sizeof colors / sizeof *colors)];
}

static void write_container(const struct memory_view *view, const struct hlo_allocation *allocation,
                            struct json_writer *w) {
    json_open_object(w);
    json_write_int64_key(w, "logicalBufferId", -1);
    json_write_text_key(w, "name", "Temporary");
    xprof_int64_key(w, "size", allocation->size_bytes);
    xprof_int64_key(w, "endStep", view->replay.step_count);
    json_write_text_key(w, "category", "Temporary");
    json_write_text_key(w, "color", "#ffffff");
    json_close_object(w);
}

static void write_block(const struct memory_view *view, uint32_t row_index, uint32_t color, struct xprof_words *words,
                        struct json_writer *w) {
    const struct memory_buffer *row = &view->rows[row_index];
    const struct buffer_description *buffer = &words->rows[row_index];
    json_open_object(w);
    xprof_int64_key(w, "logicalBufferId", view->module->buffers[row->buffer].id);
    xprof_string_key(w, "name", buffer->name);
    xprof_int64_key(w, "offset", row->offset);
    xprof_int64_key(w, "size", row->size_bytes);
    xprof_int64_key(w, "startStep", row->start_step);
    xprof_int64_key(w, "endStep", row->end_step);
    xprof_string_key(w, "tfOpName", buffer->op_name);
    json_write_text_key(w, "category", "Temporary");
    xprof_write_source(words, buffer, w);
    xprof_string_key(w, "shapeString", buffer->shape);
    xprof_int64_key(w, "unpaddedSize", row->unpadded_bytes < 0 ? 0 : row->unpadded_bytes);
    json_write_text_key(w, "color", block_color(color));
    json_close_object(w);
}

static void write_containers(const struct memory_view *view, struct json_writer *w) {
    for (uint32_t i = 0; i < view->module->allocation_count; i++) {
        const struct hlo_allocation *allocation = &view->module->allocations[i];
        if (allocation->color != view->totals.space || allocation_is_indefinite(allocation)) continue;
        write_container(view, allocation, w);
    }
}

void xprof_blocks_write(const struct memory_view *view, const struct xprof_peak *peak, struct xprof_words *words,
                        struct json_writer *w) {
    if (!view->has_simulation) return;
    json_open_array_key(w, "bufferBlocks");
    write_containers(view, w);
    for (uint32_t row = view->indefinite_row_count; row < view->row_count; row++) {
        uint32_t bar = peak->bar_of_row[row];
        write_block(view, row, bar == HLO_NONE ? row : bar, words, w);
    }
    json_close_array(w);
}
