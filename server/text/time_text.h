// A moment or a stretch of a profile as a sentence tells it: "425 ms", "10.3 s".
#pragma once

#include "analysis/base/arena.h"

// On `arena`, "" at its limit.
const char *time_string(int64_t time_ps, struct arena *arena);
