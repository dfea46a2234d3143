// Says to a tired person where memory ran out, and whether it did.
#pragma once

#include "analysis/profile/questions/memory_pressure.h"

struct pressure_told {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    const struct memory_pressure *pressure;
};

// The whole in a sentence or two. NULL when the arena is at its limit.
const char *pressure_text(const struct pressure_told *told, struct arena *arena);

// "At 12.3 s (step 6) the allocator stalled for 10.0 s ...". NULL when the arena is at its limit.
const char *pressure_moment_text(const struct pressure_told *told, const struct pressure_moment *moment,
                                 struct arena *arena);
