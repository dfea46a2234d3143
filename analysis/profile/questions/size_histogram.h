// How the sizes and the lifetimes of allocations are spread: how many there are in each range, and what they hold.
//
//     sizes       [256, 512) ###        by powers of two of the bytes held (held_bytes.h)
//                 [512, 1024) #
//     lifetimes   [0, 1000) ##          by powers of ten of picoseconds, from a nanosecond on; of what was seen freed
//                 [1000, 10000) ####
//
// Only ranges that hold an allocation are listed, in order. Sizes of 0 are [0, 1); negative ones, which only a damaged
// file has, [INT64_MIN, 0). The last range of all ends at INT64_MAX, which it includes. Sums wrap around at 2^64.
#pragma once

#include "analysis/profile/memory_profile.h"

struct histogram_range {
    int64_t from, to;  // half-open
    uint64_t count;
    int64_t bytes;  // held by these
};

enum { SIZE_RANGE_MAX = 65, LIFETIME_RANGE_MAX = 17 };

struct allocation_histograms {
    struct histogram_range sizes[SIZE_RANGE_MAX];
    struct histogram_range lifetimes[LIFETIME_RANGE_MAX];
    uint32_t size_count, lifetime_count;
    uint64_t never_freed_count;  // allocations that were not seen freed
    int64_t never_freed_bytes;
};

void allocation_histograms_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                struct allocation_histograms *histograms);
