// Says in one sentence whether memory leaks from step to step, and where.
#pragma once

#include "analysis/profile/questions/step_growth.h"

// NULL when the arena is at its limit.
const char *growth_text(const struct step_growth *growth, struct arena *arena);
