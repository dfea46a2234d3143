// One program, or one memory, over many sessions: what it took in each, and where it changed.
//
//     session      11-01    11-02    11-03    11-04        points, in order of time; one that is not known is NULL
//     peak          5.0      5.0     (NULL)   10.8         the jump: from 11-02 to 11-04, +5.8
//     train.py:53    -        -                4.5  \      lines: those that hold most at some point,
//     params        1.8      1.8               1.8   |     a number for each point
//     the rest      3.2      3.2               4.5  /      sum: the peak, to the byte
//
// Borrows the points; what is made lives on the caller's arena.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "proto/bytes.h"

struct trend_holder {
    struct bytes key;
    int64_t bytes;
    uint32_t buffers;
};

struct trend_figures {  // of one point
    int64_t peak_bytes;
    int64_t total_bytes;           // TREND_UNKNOWN: nobody tells
    struct trend_holder *holders;  // at the peak, the largest first; each key once
    uint32_t holder_count;
};

enum { TREND_UNKNOWN = -1, TREND_NOWHERE = UINT32_MAX };

// What a line holds at each point; `bytes` has `point_count` numbers for each of them, TREND_UNKNOWN where the point is
// not known.
struct trend_lines {
    struct bytes *keys;
    int64_t *bytes;
    int64_t *rest_bytes;  // at each point: the peak without the lines
    uint32_t count, point_count;
};

// At most `most` lines, the one that holds most at any point first. False at the arena's limit.
MUST_USE bool trend_lines_make(const struct trend_figures *const *points, uint32_t count, uint32_t most,
                               struct arena *arena, struct trend_lines *lines);

// The last point before `at` that is known; TREND_NOWHERE.
uint32_t trend_point_before(const struct trend_figures *const *points, uint32_t at);

// The point whose peak is most above that of the known one before it, the latest of equal ones. TREND_NOWHERE: the peak
// never grew.
uint32_t trend_largest_jump(const struct trend_figures *const *points, uint32_t count);

// What a holder had before and after.
struct trend_delta {
    struct bytes key, a_key;  // a_key: what it was called before, where it moved
    int64_t a_bytes, b_bytes, delta_bytes;
    uint32_t a_buffers, b_buffers;
};

// The holders that differ, the largest difference first; those that neither point tells apart from its rest are none.
// NULL at the arena's limit.
MUST_USE struct trend_delta *trend_deltas_make(const struct trend_figures *a, const struct trend_figures *b,
                                               struct arena *arena, uint32_t *count);
