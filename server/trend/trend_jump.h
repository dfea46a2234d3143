// The change that made the memory jump: the two points around the largest growth of the peak, and who holds more.
//
//     2026_11_02  5.03 GiB  ──>  2026_11_03  10.81 GiB      +5.77 GiB
//         train.py:53    +4.51 GiB     0 -> 24 buffers       rows: the largest difference first
//         train.py:58  +576.00 MiB     1 -> 13
//
// Two programs are compared as `hbmview diff` does (memory_diff.h), so that lines which moved are one row, and the rows
// with what is left out sum to the difference, to the byte; it is kept by the versions of both. Of the other tools the
// holders of both points are set side by side.
#pragma once

#include "analysis/groups/memory_grouping.h"
#include "server/trend/trend.h"

enum { TREND_DELTAS_MAX = 24 };

struct trend_deltas {
    struct trend_delta *rows;
    uint32_t count;
    uint32_t left_out;
    int64_t left_out_bytes;
    enum memory_group_rule rule;  // of programs by source
};

struct trend_jump {
    uint32_t before, after;  // points
    int64_t peak_delta_bytes, total_delta_bytes;
    const struct trend_deltas *deltas;
    const struct error *reason;  // why the programs could not be compared: then it is the holders of both points
};

// False: the peak never grew. Valid as long as the trend.
bool trend_jump_find(struct trend *trend, struct trend_jump *jump);
