// One line on how far a long piece of work is: what is read, how much of it, how long yet.
//
//     session 12 of 340: reading gs://bucket/run/…/tpu-vm-0.xplane.pb, 12.00 of 24.00 MiB, 3 s left
//     listing gs://bucket/run, 12000 names
#pragma once

#include "analysis/base/arena.h"
#include "analysis/input/reading.h"

struct progress_facts {
    const char *step;  // "session", "program"; NULL: there are no steps
    size_t done, all;  // the how-manieth it is, of how many
    struct reading_state reading;
    double seconds_left;  // below 0: not known
};

// In at most `width` columns, without control characters; "" when there is nothing to say, or at the arena's limit.
const char *progress_text(const struct progress_facts *facts, size_t width, struct arena *arena);
