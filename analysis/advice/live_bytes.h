// What is alive on the heap along the program, were its buffers of other sizes.
//
//     events      alloc a   alloc b   free a   alloc c   free b ...
//     live          a         a+b       b        b+c       c          after each of them
//     operations        A: a      B: b               C: c             the most when each has its results
//
// Of the replay of the heap simulator trace alone: guests of outputs, what fast memory holds, and how it is packed, are
// not in it.
#pragma once

#include "analysis/advice/advisor.h"

// Bytes after each of the events, with these sizes by buffer: step_count + 1 entries, on the arena. NULL at its limit.
double *live_bytes_after_events(const struct advisor *advisor, const int64_t *sizes);

// Of these the most.
double live_bytes_most(const struct advisor *advisor, const double *live);

// The most that is live when an operation has its results, of each operation that the schedule has
// (callers_scheduled), on the arena; what has none on the heap has what the operation before has. NULL at its limit.
double *live_bytes_at_nodes(const struct advisor *advisor, const double *live);
