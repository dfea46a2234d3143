// What each op allocated over the whole profile, in exact counts of all events seen.
//
//     op        allocations  frees  held            of the allocations of an op, `frees` were seen freed; the others
//     "MatMul"           12     10  2 x 1 MiB       are held at the end. A free whose allocation was not seen belongs
//     "Relu"             12     12  -               to no op: frees_of_unseen.
//
// Sums of hostile sizes wrap around at 2^64, as the sizes of a real profile never do.
#pragma once

#include "analysis/profile/memory_profile.h"

struct op_total {
    struct bytes op;  // "" when the events told none
    uint64_t allocations, frees;
    int64_t requested_bytes, allocated_bytes;  // over all allocations
    int64_t held_bytes;                        // of what was not seen freed (held_bytes.h)
    int64_t largest_bytes;                     // held by one allocation
    int64_t median_lifetime_ps;                // of what was freed: the lower of two middle ones; -1 when nothing was
};

struct op_totals {
    struct op_total *ops;  // most allocated_bytes first, then most requested, then by name
    uint32_t op_count;
    uint64_t allocations, frees, frees_of_unseen;
    int64_t requested_bytes, allocated_bytes;
};

MUST_USE bool op_totals_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                             struct arena *arena, struct op_totals *totals, struct error *error);

// The row that frees an allocation; MEMORY_EVENT_NONE when none was seen.
static inline uint32_t memory_timeline_freed_at(const struct memory_timeline *timeline, uint32_t row) {
    uint32_t partner = timeline->partner[row];
    return partner > row && partner < timeline->count ? partner : MEMORY_EVENT_NONE;
}

// How long an allocation lived until it was freed; never negative.
static inline int64_t memory_timeline_lifetime_ps(const struct memory_timeline *timeline, uint32_t row,
                                                  uint32_t freed_at) {
    int64_t lifetime = (int64_t)((uint64_t)timeline->time_ps[freed_at] - (uint64_t)timeline->time_ps[row]);
    return lifetime < 0 ? INT64_MAX : lifetime;  // times far apart: a hostile file's
}
