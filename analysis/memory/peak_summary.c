#include "analysis/memory/peak_summary.h"

#include <stdlib.h>

struct sized_row {
    int64_t size_bytes;
    uint32_t row;
};

static int by_size(const void *a, const void *b) {
    const struct sized_row *x = a, *y = b;
    if (x->size_bytes != y->size_bytes) return x->size_bytes > y->size_bytes ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

// No padding where the shape is unknown.
static int64_t padding_of(const struct memory_buffer *row) {
    return row->unpadded_bytes < 0 || row->unpadded_bytes > row->size_bytes ? 0 : row->size_bytes - row->unpadded_bytes;
}

static void add(int64_t *sum, int64_t bytes) {
    if (__builtin_add_overflow(*sum, bytes, sum)) *sum = INT64_MAX;
}

void peak_sum_add(struct peak_sum *sum, const struct memory_buffer *row) {
    add(&sum->size_bytes, row->size_bytes);
    add(&sum->padding_bytes, padding_of(row));
    sum->buffers++;
}

bool peak_summary_make(const struct memory_view *view, uint32_t most, struct arena *arena,
                       struct peak_summary *summary) {
    *summary = (struct peak_summary){.largest_count = view->at_peak_count < most ? view->at_peak_count : most};
    struct sized_row *sized = arena_new(arena, struct sized_row, view->at_peak_count);
    summary->largest = arena_new(arena, uint32_t, summary->largest_count);
    if (!sized || !summary->largest) return false;
    for (uint32_t i = 0; i < view->at_peak_count; i++) {
        const struct memory_buffer *row = &view->rows[view->at_peak[i]];
        sized[i] = (struct sized_row){row->size_bytes, view->at_peak[i]};
        peak_sum_add(&summary->total, row);
        peak_sum_add(&summary->categories[row->category], row);
    }
    if (view->at_peak_count) qsort(sized, view->at_peak_count, sizeof *sized, by_size);
    for (uint32_t i = 0; i < summary->largest_count; i++) summary->largest[i] = sized[i].row;
    return true;
}
