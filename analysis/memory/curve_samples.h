// A curve over program order reduced to what a chart of so many pixel columns can show, so that no peak is lost.
//
//     steps      | . . ^ . . v . | . . . . |      columns of (step_count + 1) / columns steps
//     kept       |     ^     v   | ...            the lowest and the highest of each, in the order in which they occur
//
// Where there are at most two steps a column, every step is kept. Indefinite buffers are counted at every step, as in
// the whole curve (memory_view.h). No state.
#pragma once

#include "analysis/memory/memory_view.h"

struct curve_samples {
    uint32_t count;
    uint32_t *steps;          // where heap_bytes has its extremes
    int64_t *heap_bytes;      // live bytes before event steps[i]
    int64_t *unpadded_bytes;  // the extremes of the unpadded curve in the same column, in their own order
};

// On `arena`; empty for a view without a simulation. False at the arena's limit.
MUST_USE bool curve_samples_make(const struct memory_view *view, uint32_t columns, struct arena *arena,
                                 struct curve_samples *samples);
