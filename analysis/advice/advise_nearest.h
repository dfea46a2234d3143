// Where no set of changes fits the capacity: the one that comes nearest, and how many chips it takes at least.
//
//     capacity |   nearest          the least total; of sets within a hundredth of the capacity of it, the cheapest
//              |------|   over
//     shard_all over `ways` saves S: so S * ways / (ways - 1) bytes are divided, the rest stays on every chip
//     least ways: the first power of two, which divides the batch too, whose share and the rest fit
//
// The chips are reasoned, and no compiler has judged them: what does not divide so far, and what is gathered on the
// way, comes on top, so they are a least number.
#pragma once

#include "analysis/advice/advice.h"

// Sets advice->nearest and, where the program does not fit as it is, the least ways. Needs the plan.
void advice_nearest_find(struct advice *advice);
