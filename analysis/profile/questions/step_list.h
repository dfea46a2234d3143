// The steps that one memory went through: those of the profiler's root events, and those that only its events name.
//
//     root events   |-- train 0 --| |-- train 1 --|            a step ends where its root event ends;
//     events           A  F  A   F     A  A     F     A 7      step 7 has none: it ends at its last event
//     end_row                    4              7     8
//
// In order of their ends (then of their ids), so that neighbours follow each other in time whatever their numbers.
#pragma once

#include "analysis/profile/memory_profile.h"

struct memory_step {
    int64_t id;
    struct bytes name;  // "" when only events name the step
    int64_t begin_ps, end_ps;
    uint32_t end_row;             // the events up to its end are those before this row
    uint64_t allocations, frees;  // of the events that belong to it
    int64_t heap_at_end_bytes;
    int64_t peak_bytes;  // most in use (stack + heap) after an event of it; what is in use at its end when it has none
    int64_t held_bytes;  // step_growth.h; 0 here
    bool has_root, has_event, has_peak;
};

struct step_list {
    struct memory_step *steps;
    uint32_t count;
};

MUST_USE bool step_list_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                             struct arena *arena, struct step_list *list, struct error *error);
