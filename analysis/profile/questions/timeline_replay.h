// Do the events of one memory explain what its allocator says of itself?
//
//     event       alloc 10   alloc 5   free 10   alloc 7      an allocation adds its allocated bytes to the heap, free
//     told heap      110       115       100       112        takes them away; nothing moves the stack
//     replayed         -       115       105       107
//     difference       0         0        -5        +5        5 bytes went unseen, and came back
//
// Each event is compared with the one before it, so a difference is told once, where it arises. Differences are real:
// threads whose events cross between the allocator's lock and their time stamps, and events that were not recorded.
// The first event has nothing before it and is never one of them. An event that told no state cannot be compared; what
// it moved counts for the next one that did. An allocator that tells only zeros (timeline_tells) is not compared.
//
// Sums that do not fit 64 bits (hostile files only) stop at the ends of the range.
#pragma once

#include "analysis/profile/questions/timeline_pyramid.h"

struct timeline_difference {
    int64_t heap_bytes, stack_bytes;  // told minus replayed
};

struct timeline_replay {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    uint32_t row;                     // the next one
    bool is_compared;                 // the allocator tells more than zeros
    bool is_known;                    // some event before `row` told its state
    int64_t heap_bytes, stack_bytes;  // after the events before `row`
};

// So that the next step is `row`.
void timeline_replay_begin(struct timeline_replay *replay, const struct memory_profile *profile,
                           const struct memory_timeline *timeline, struct timeline_tells tells, uint32_t row);

// The difference at the next row, which must be in the timeline.
struct timeline_difference timeline_replay_step(struct timeline_replay *replay);

static inline bool timeline_difference_is_none(struct timeline_difference difference) {
    return difference.heap_bytes == 0 && difference.stack_bytes == 0;
}

// What an event adds to the heap: negative for a free.
int64_t timeline_moved_bytes(const struct memory_profile *profile, const struct memory_timeline *timeline,
                             uint32_t row);
