// The longest stretches without an event of one memory: what an axis may leave out to give the rest room.
//
//     events    ||  | ||                        |||  |                                    ||
//                        <------- 1st -------->        <------------ 0th -------------->         by length
//     silences           [begin, end)                  [begin, end)                              in order of time
//
// A silence begins with the event before it and ends with the one after it: both are outside of what may be left out.
// Only silences of at least 1/1000 of the time from the first event to the last count, and of those the longest.
#pragma once

#include "analysis/profile/memory_profile.h"

enum { TIMELINE_SILENCES_MAX = 40, TIMELINE_SILENCE_PARTS = 1000 };

struct timeline_silence {
    int64_t begin_ps, end_ps;
};

struct timeline_silences {
    struct timeline_silence items[TIMELINE_SILENCES_MAX];  // in order of time
    uint32_t count;
};

void timeline_silences_find(const struct memory_timeline *timeline, struct timeline_silences *silences);
