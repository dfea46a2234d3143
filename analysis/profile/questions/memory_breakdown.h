// What fills a memory after one of its events: the allocations seen and not yet freed, merged by site.
//
//     event      0    1    2    3    4    5          after event 4, of site a: 1 and 4, of site b: none
//                A.a  A.a  A.b  F(0) A.a  F(2)
//                 |____|____|__/    |    |           heap = sum of total_bytes + unexplained_bytes
//                      |    |_______|___/
//                      |____________|__ ...
//
// Unexplained is what the profile did not see allocated: mostly what was there before it began. It is negative when the
// profile missed frees. Sums of hostile sizes wrap around at 2^64, as the sizes of a real profile never do, so that the
// equation above holds for any input.
#pragma once

#include "analysis/profile/questions/timeline_pyramid.h"

struct memory_breakdown_row {
    uint32_t site;
    uint32_t occurrences;
    int64_t total_bytes;            // held_bytes.h of the site x occurrences
    uint32_t first_row;             // the first of those alive
    int64_t first_step, last_step;  // lowest and highest step of those alive
    bool is_of_this_step;           // one of them belongs to the step of the event
};

struct memory_breakdown {
    uint32_t row;  // the event
    bool is_peak;
    bool heap_is_told;  // by the event; else heap_bytes is explained_bytes
    int64_t heap_bytes;
    int64_t explained_bytes;
    int64_t unexplained_bytes;          // heap_bytes - explained_bytes
    struct memory_breakdown_row *rows;  // largest total_bytes first, then in order of first_row
    uint32_t row_count;
    // XProf's table counts the step of the peak only, and puts the rest under "unused preallocated device memory".
    uint32_t step_row_count;  // rows with an allocation of the event's own step
    int64_t step_bytes;       // what these allocations hold
};

// The first event with the most bytes in use (stack + heap). Where no event tells that (TensorFlow's plain CPU
// allocator), the first after which the allocations seen hold the most. MEMORY_EVENT_NONE when there is no event.
uint32_t memory_breakdown_peak_row(const struct memory_profile *profile, const struct memory_timeline *timeline);

// Whether a later event has as much in use as the peak's: XProf takes the last of them.
bool memory_breakdown_peak_recurs(const struct memory_timeline *timeline, uint32_t peak);

// The last event at or before a time, or the first event when the time is before all. The timeline must have events.
uint32_t memory_breakdown_row_at(const struct memory_timeline *timeline, int64_t time_ps);

// `row` must be an event of the timeline. One pass over the events up to it.
MUST_USE bool memory_breakdown_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                    uint32_t row, struct arena *arena, struct memory_breakdown *breakdown,
                                    struct error *error);
