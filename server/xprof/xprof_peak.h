// The bars of XProf's charts at the peak: maxHeap, maxHeapBySize and the two maps between them.
//
//     maxHeap         [param][param]...[temp][temp]...[small]      indefinite buffers, program order, the small ones
//     maxHeapBySize   the same bars, largest first; equal sizes keep their order
#pragma once

#include "server/xprof/xprof_words.h"

struct xprof_peak {
    const struct memory_view *view;
    uint32_t *rows;  // of the view, one a bar
    uint32_t row_count;
    int64_t small_bytes;  // buffers under 16 KiB: one more bar when there are any
    uint32_t bar_count;
    uint32_t *by_size;     // bar numbers, largest first
    uint32_t *bar_of_row;  // HLO_NONE for rows that are no bar
};

// False when the arena is at its limit.
bool xprof_peak_collect(const struct memory_view *view, struct xprof_words *words, struct xprof_peak *peak);

void xprof_peak_write(const struct xprof_peak *peak, struct xprof_words *words, struct json_writer *w);
