// The parts of XProf's JSON that list buffers. The bars of its charts at the peak: maxHeap, maxHeapBySize and the two
// maps between them; bufferBlocks; and indefiniteLifetimes.
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

// bufferBlocks: for each temporary allocation a white container, then the buffers that lived in it as rectangles of
// offset x program order.
void xprof_blocks_write(const struct memory_view *view, const struct xprof_peak *peak, struct xprof_words *words,
                        struct json_writer *w);

// indefiniteLifetimes: the allocations that live for the whole program, with the buffers in them.
void xprof_lifetimes_write(const struct memory_view *view, struct xprof_words *words, struct json_writer *w);
