// The rows of a view that hold bytes at a step, each with what it holds.
//
//     indefinite rows (parameters, outputs, constants)      their allocations, at every step
//     stays of the heap that cover the step                 the buffer that stands for the bytes, with the size of
//                                                           the one that took them
//
// Bytes that buffers share are there once. Where a damaged trace counts more than its buffers explain, the rest is
// `unexplained_bytes`, so that rows and rest are the live bytes of the step, to the byte. On the caller's arena.
#pragma once

#include "analysis/memory/memory_view.h"

struct live_row {
    uint32_t row;  // of the view
    int64_t size_bytes;
};

struct live_rows {
    struct live_row *rows;  // indefinite ones, then the others in program order
    uint32_t count;
    int64_t live_bytes, unexplained_bytes;
};

// `step` is at most the last. False at the arena's limit.
MUST_USE bool live_rows_at(const struct memory_view *view, uint32_t step, struct arena *arena, struct live_rows *live);
