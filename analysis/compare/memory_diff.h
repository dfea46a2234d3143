// Two programs at their peaks: what changed, and where the difference went.
//
//     A  peak 10.81 GiB   total 10.85        by group     train.py:53   -4.32 GiB
//     B  peak  5.03       total  5.05                     train.py:58   -0.57
//        ------------------------------      by buffer    lost    24 x 192.00 MiB
//          -5.78           -5.80             by category  temporary  -5.80   (of the totals)
//
// Groups and buffers sum to the difference of the peaks, categories to that of the totals; what the two differ by is
// fragmentation. All to the byte. Borrows the views and sources; lives on the caller's arena.
#pragma once

#include "analysis/compare/group_deltas.h"

struct memory_diff {
    struct compared_side a, b;
    int64_t peak_delta_bytes, total_delta_bytes;
    struct buffer_changes buffers;
    struct group_deltas groups;
};

MUST_USE bool memory_diff_make(const struct compared_side *a, const struct compared_side *b, enum memory_group_by by,
                               struct arena *arena, struct memory_diff *diff, struct error *error);
