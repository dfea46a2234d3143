// What a person can change: every lever by its id, with what to do and what it costs.
//
// The ids are those of the advice where it has the same intervention (donate_inputs, halve_batch, ...), so that a
// prediction in bytes can be put beside it. Facts from openxla.org/xla/errors (E1000, E0101) and the JAX documentation,
// in our own words.
#pragma once

#include "analysis/base/arena.h"

struct oom_fix {
    const char *id;
    const char *text;  // what to do, and what it costs
    const char *how;   // a line of code or a flag
    bool changes_numerics;
    int64_t saves_bytes;  // -1: not known from the message
};

// The fix of that id; every id that this program knows has one. NULL for another.
const struct oom_fix *oom_fix_find(struct bytes id);
