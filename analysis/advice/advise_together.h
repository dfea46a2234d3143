// Several changes as one: a program with all of them made, replayed and packed once.
//
//     sizes     each buffer's, by one change after the other: bfloat16 x half the batch = a quarter
//     inputs    those that are donated or moved to the host go as large as they are by then
//     the rest  what a change adds or takes beyond its replay (a gathered weight): as much as for itself, and less
//               where the others leave less of the temporaries
//
// No total is below what none of the changes touches, nor above what they add. Sets of few changes come first, of these
// the cheapest (advice_cost.h), as far as TOGETHER_COST_MAX goes, counted in buffers, events and visits of the packing:
// of a very large program only some pairs are asked, and its plans have one change or two.
#pragma once

#include "analysis/advice/advisor.h"

enum { TOGETHER_COST_MAX = 10000000 };

// Fills advice->together on advisor->kept. The items are made already.
MUST_USE bool advise_together(struct advisor *advisor, struct advice *advice);
