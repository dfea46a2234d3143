#include "server/xprof/xprof_peak.h"

#include <stdlib.h>

enum { SMALL_BUFFER_BYTES = 16 * 1024, HBM = 0 };

static int64_t bar_bytes(const struct xprof_peak *peak, uint32_t bar) {
    return bar < peak->row_count ? peak->view->rows[peak->rows[bar]].size_bytes : peak->small_bytes;
}

// XProf shows parameters, outputs and constants among the bars of HBM only.
static bool is_shown(const struct memory_view *view, uint32_t row) {
    return view->totals.space == HBM || row >= view->indefinite_row_count;
}

static void choose_rows(const struct memory_view *view, struct xprof_peak *peak) {
    for (uint32_t i = 0; i < view->at_peak_count; i++) {
        uint32_t row = view->at_peak[i];
        if (!is_shown(view, row)) continue;
        if (view->rows[row].size_bytes < SMALL_BUFFER_BYTES) {
            peak->small_bytes += view->rows[row].size_bytes;
        } else {
            peak->bar_of_row[row] = peak->row_count;
            peak->rows[peak->row_count++] = row;
        }
    }
    peak->bar_count = peak->row_count + (peak->small_bytes != 0);
}

struct sized_bar {
    int64_t bytes;
    uint32_t bar;
};

static int larger_first(const void *a, const void *b) {
    const struct sized_bar *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return (x->bar > y->bar) - (x->bar < y->bar);
}

static bool sort_by_size(struct arena *arena, struct xprof_peak *peak) {
    struct sized_bar *sized = arena_push_raw(arena, peak->bar_count, sizeof *sized);
    peak->by_size = arena_push_raw(arena, peak->bar_count, sizeof *peak->by_size);
    if (!sized || !peak->by_size) return false;
    for (uint32_t i = 0; i < peak->bar_count; i++) sized[i] = (struct sized_bar){bar_bytes(peak, i), i};
    qsort(sized, peak->bar_count, sizeof *sized, larger_first);
    for (uint32_t i = 0; i < peak->bar_count; i++) peak->by_size[i] = sized[i].bar;
    return true;
}

bool xprof_peak_collect(const struct memory_view *view, struct xprof_words *words, struct xprof_peak *peak) {
    struct arena *arena = words->describer.arena;
    *peak = (struct xprof_peak){.view = view};
    peak->rows = arena_push_raw(arena, view->at_peak_count, sizeof *peak->rows);
    peak->bar_of_row = arena_push_raw(arena, view->row_count, sizeof *peak->bar_of_row);
    if (!peak->rows || !peak->bar_of_row) return false;
    for (uint32_t row = 0; row < view->row_count; row++) peak->bar_of_row[row] = HLO_NONE;
    choose_rows(view, peak);
    return sort_by_size(arena, peak);
}

static void write_small_bar(const struct xprof_peak *peak, uint32_t number, struct json_writer *w) {
    json_write_int64_key(w, "numbered", number);
    json_write_text_key(w, "label", "small (<16384 bytes)");
    json_write_int64_key(w, "logicalBufferId", -1);
    json_write_mib_key(w, "logicalBufferSizeMib", peak->small_bytes);
}

static void write_buffer_bar(const struct xprof_peak *peak, uint32_t number, struct xprof_words *words,
                             struct json_writer *w) {
    const struct memory_buffer *row = &peak->view->rows[peak->rows[number]];
    const struct buffer_description *buffer = &words->rows[peak->rows[number]];
    json_write_int64_key(w, "numbered", number);
    json_write_string_key(w, "label", xprof_label(buffer, words->describer.arena));
    json_write_int64_key(w, "logicalBufferId", peak->view->module->buffers[row->buffer].id);
    xprof_mib_key(w, "logicalBufferSizeMib", row->size_bytes);
    xprof_mib_key(w, "unpaddedShapeMib", row->unpadded_bytes);
    xprof_string_key(w, "instructionName", buffer->name);
    xprof_string_key(w, "shapeString", buffer->shape);
    xprof_string_key(w, "tfOpName", buffer->op_name);
    json_write_text_key(w, "groupName", xprof_category(row->category));
    xprof_string_key(w, "opCode", buffer->opcode);
    xprof_write_source(words, buffer, w);
}

static void write_bar(const struct xprof_peak *peak, uint32_t number, struct xprof_words *words,
                      struct json_writer *w) {
    json_open_object(w);
    if (number < peak->row_count) {
        write_buffer_bar(peak, number, words, w);
    } else {
        write_small_bar(peak, number, w);
    }
    json_close_object(w);
}

// The second list holds the same objects in another order: they are copied from the first.
static void write_bars(const struct xprof_peak *peak, struct xprof_words *words, struct json_writer *w) {
    struct json_part *parts = arena_push_raw(words->describer.arena, peak->bar_count, sizeof *parts);
    if (!parts) return;
    json_open_array_key(w, "maxHeap");
    for (uint32_t i = 0; i < peak->bar_count; i++) {
        parts[i] = json_part_begin(w);
        write_bar(peak, i, words, w);
        json_part_end(w, &parts[i]);
    }
    json_close_array(w);
    json_open_array_key(w, "maxHeapBySize");
    for (uint32_t i = 0; i < peak->bar_count; i++) json_write_again(w, parts[peak->by_size[i]]);
    json_close_array(w);
}

static void write_maps(const struct xprof_peak *peak, struct arena *arena, struct json_writer *w) {
    uint32_t *to_by_size = arena_push_raw(arena, peak->bar_count, sizeof *to_by_size);
    if (!to_by_size) return;
    for (uint32_t i = 0; i < peak->bar_count; i++) to_by_size[peak->by_size[i]] = i;
    json_write_uint32_column(w, "maxHeapToBySize", to_by_size, peak->bar_count);
    json_write_uint32_column(w, "bySizeToMaxHeap", peak->by_size, peak->bar_count);
}

void xprof_peak_write(const struct xprof_peak *peak, struct xprof_words *words, struct json_writer *w) {
    if (peak->bar_count == 0) return;
    write_bars(peak, words, w);
    write_maps(peak, words->describer.arena, w);
}
