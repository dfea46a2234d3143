// What memory_pressure.h found, as the endpoint and the report tell it: in fields (pressure_json), and in words, to a
// tired person: where memory ran out, and whether it did (pressure_text).
#pragma once

#include "analysis/profile/questions/memory_pressure.h"
#include "server/text/json_writer.h"

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

// Keys of an open object: state, tightest, largest_request, moments, text. False when the arena, which the sentences
// are made on, is at its limit.
MUST_USE bool pressure_json_write(const struct pressure_told *told, struct arena *arena, struct json_writer *w);
