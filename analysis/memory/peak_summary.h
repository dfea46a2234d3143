// The peak of a view in a few rows: its largest buffers, and what each category holds, whatever the program's size.
//
//     at_peak  [ 0 5 7 9 ... 240,000 rows ]
//                 largest: the first `most` by size, ties by row
//                 total, categories: sums over every row of the peak
//
// Rows that share bytes are counted each, so a sum can be above the view's peak. Borrows the view; lives on the
// caller's arena. Groups by source line and the like are not made here.
#pragma once

#include "analysis/memory/memory_view.h"

struct peak_sum {
    int64_t size_bytes, padding_bytes;  // INT64_MAX for what is more
    uint32_t buffers;
};

struct peak_summary {
    uint32_t *largest;  // rows of the view, largest first
    uint32_t largest_count;
    struct peak_sum total, categories[ALLOCATION_CATEGORY_COUNT];
};

void peak_sum_add(struct peak_sum *sum, const struct memory_buffer *row);

// False at the arena's limit.
MUST_USE bool peak_summary_make(const struct memory_view *view, uint32_t most, struct arena *arena,
                                struct peak_summary *summary);
