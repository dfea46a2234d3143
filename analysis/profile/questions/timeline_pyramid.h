// Least and most over any run of events of one memory, without reading the events.
//
//     rows      |e e e e e e e e e e e e e e e e|e e e ...        as in the timeline
//     level 0   |       range of 16 rows        |  range  | ...   one range a block
//     level 1   |            range of 16 blocks           | ...   and so on, up to one block
//
//     rows [3, 70) =  3..16 from the rows,  blocks 1..4 of level 0,  64..70 from the rows
//
// So a question costs at most 30 rows and 30 blocks a level, and 1.3 million events need 9 MB. The blocks are exact: an
// answer is what a walk over the rows gives, equal values included (the first event of a peak stands for it).
//
// An event that told no state of its allocator (MEMORY_EVENT_HAS_STATE) has no part in a range.
#pragma once

#include "analysis/profile/memory_profile.h"

struct timeline_extent {
    int64_t min, max;
};

// A run of rows, summed up. Of none, or of events without state, both rows are MEMORY_EVENT_NONE, the rest is nothing.
struct timeline_range {
    struct timeline_extent heap, stack, free, used;
    double fragmentation_min, fragmentation_max;  // NaN: no value in the run is a finite number
    int64_t largest_free_min;                     // LARGEST_FREE_UNKNOWN: of no event known
    uint32_t peak_row;                            // the first event of most bytes used
    uint32_t last_row;                            // the last event that told its state
};

// What the allocator's events tell at all: TensorFlow's plain CPU allocator reports zeros for everything.
struct timeline_tells {
    bool usage;  // heap, stack, free or peak
    bool free;
};

enum { TIMELINE_PYRAMID_FAN = 16, TIMELINE_PYRAMID_LEVELS = 8 };

struct timeline_level {
    struct timeline_range *blocks;
    uint32_t count;
};

struct timeline_pyramid {
    uint32_t event_count;  // of the timeline
    struct timeline_tells tells;
    struct timeline_level levels[TIMELINE_PYRAMID_LEVELS];  // from the rows up; the last has one block
    uint32_t level_count;                                   // 0 when a block of rows would be no gain
};

struct timeline_tells timeline_tells(const struct memory_timeline *timeline);

// Builds the levels on `arena`, without a pointer into the timeline. False when the arena is at its limit.
MUST_USE bool timeline_pyramid_build(const struct memory_timeline *timeline, struct arena *arena,
                                     struct timeline_pyramid *pyramid);

// The rows [first, end) of the timeline that the pyramid was built from.
struct timeline_range timeline_pyramid_range(const struct timeline_pyramid *pyramid,
                                             const struct memory_timeline *timeline, uint32_t first, uint32_t end);
