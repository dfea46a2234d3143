// Where memory leaks: what each op still holds at the end of each step.
//
//     step           0      1      2      3           held: bytes of its allocations seen in this profile that are not
//     "Relu"       1 MiB  2 MiB  3 MiB  4 MiB         freed at the end of the step
//     "Assign"     5 KiB  5 KiB  9 KiB  5 KiB         slope: least squares, bytes a step
//
// Steps and their ends are those of step_list.h. Held at the end means after the last event of all.
//
// Any number of steps and ops is gone through; what is kept has limits: of more than STEP_GROWTH_MAX_STEPS steps, runs
// of neighbours are merged (the entry is then the last of them, its counts are of all); of more than
// STEP_GROWTH_MAX_OPS ops that hold something at some step's end, the least growing are left out. Slopes are of all
// steps. Sums of hostile sizes wrap around at 2^64.
#pragma once

#include "analysis/profile/questions/step_list.h"

enum { STEP_GROWTH_MAX_STEPS = 2000, STEP_GROWTH_MAX_OPS = 200 };

// A leak takes this many steps to tell, and this share of them with more than the step before.
enum { STEP_GROWTH_MIN_STEPS = 4, STEP_GROWTH_STEADY_PERCENT = 75 };

// And it matters when so many more steps at this pace would add this share of the peak.
enum { STEP_GROWTH_AHEAD_STEPS = 1000, STEP_GROWTH_SHARE_PERCENT = 10 };

struct growth_op {
    struct bytes op;      // "" when the events told none
    uint32_t number;      // among the ops of the profile
    int64_t *held_bytes;  // at the end of each step
    double slope_bytes;
    int64_t first_step, last_step;    // ids: of its first and last allocation
    uint32_t steps_growing;           // steps that end with more than the one before
    int64_t first_bytes, last_bytes;  // at the end of the first and of the last step
    int64_t least_growth_bytes;       // from one step to the next
    int64_t held_at_end_bytes;
    uint32_t held_at_end_count;
    bool is_leak;  // steady, and it matters
};

struct step_growth {
    struct step_list steps;
    uint32_t all_step_count;    // before merging
    uint32_t merged_per_entry;  // 1: none are merged
    struct growth_op *ops;      // those that hold something at some step's end: leaks first, then by slope
    uint32_t op_count;
    uint32_t left_out;          // more such ops
    uint32_t leak_count;        // ops that leak, those left out too
    double leak_slope_bytes;    // of them together
    int64_t held_at_end_bytes;  // by all ops
};

MUST_USE bool step_growth_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                               struct arena *arena, struct step_growth *growth, struct error *error);

// The op that leaks most; NULL when none does.
const struct growth_op *step_growth_worst(const struct step_growth *growth);
