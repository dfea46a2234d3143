// One memory at a glance: what an overview says of it, from one walk over its events.
//
//     heap at begin  ____/----peak---\____/--\____  heap at end
//                        ^ allocated      ^ freed      counts and sums of all events, exact
//
// What XProf says of the same memory is in xprof_profile.h.
#pragma once

#include "analysis/profile/questions/timeline_replay.h"

struct timeline_summary {
    struct timeline_tells tells;
    uint32_t allocations, frees;
    uint32_t peak_row;            // the first event of most bytes in use; MEMORY_EVENT_NONE: none told its state
    uint32_t last_row;            // the last that told its state; MEMORY_EVENT_NONE
    int64_t lifetime_peak_bytes;  // the highest any event told
    int64_t requested_bytes, allocated_bytes;  // of all allocations
    int64_t held_at_begin_bytes;               // the heap before the first event
    int64_t held_at_end_bytes;                 // of the allocations not seen freed
    uint32_t held_allocations;
    uint32_t stateless_events;      // told nothing of their allocator
    uint32_t unreplayed_events;     // timeline_replay.h
    int64_t unreplayed_most_bytes;  // the largest difference, without its sign
};

void timeline_summary_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                           struct timeline_summary *summary);
