// Who holds more and who less, from one peak to another: the groups of both, key by key.
//
//     A                       B                       rows
//     train.py:53  4.51 GiB   train.py:53  0.19 GiB   train.py:53  4.51  0.19  -4.32
//     train.py:58  0.57       train.py:70  2.30       train.py:58  0.57  0     -0.57
//     train.py:70  2.30                               (train.py:70 is the same in both: no row)
//
// Lines move when code is written above them. Where the buffers of a line are, by name, those of another line of the
// same file in B, the two are one row: key "train.py:55", its key in A "train.py:53".
//
// Both sides are grouped by one rule (memory_grouping.h). The deltas sum to the difference of the two peaks, to the
// byte. Borrows the sides; lives on the caller's arena.
#pragma once

#include "analysis/compare/buffer_changes.h"
#include "analysis/groups/memory_groups.h"

struct group_delta {
    struct bytes key;    // in B, or in A where B has none
    struct bytes a_key;  // in A, or in B where A has none
    int64_t a_bytes, b_bytes, delta_bytes;
    uint32_t a_buffers, b_buffers;
};

struct group_deltas {
    const struct memory_grouping *grouping_a, *grouping_b;  // of every row of either view
    enum memory_group_by by;
    enum memory_group_rule rule;
    struct group_delta *rows;  // that differ, the largest difference first
    uint32_t row_count;
    uint32_t unchanged_count;
    int64_t unchanged_bytes;
};

MUST_USE bool group_deltas_make(const struct compared_side *a, const struct compared_side *b,
                                const struct buffer_changes *changes, enum memory_group_by by, struct arena *arena,
                                struct group_deltas *deltas, struct error *error);
