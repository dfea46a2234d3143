// When each weight is used first by what follows the batch, also through casts and copies of it.
//
//     %w1  -> %cast -> %dot(x, cast)      at the time of the dot
//
// Weights of blocks one after the other are used one after the other; a tied head's is used as a table long before.
#pragma once

#include "analysis/advice/advisor.h"

// Of each input, a time of advisor->schedule; SCHEDULE_NEVER of what is no weight, or never used. On the advisor's
// arena; NULL at its limit.
uint32_t *first_use_find(const struct advisor *advisor);
