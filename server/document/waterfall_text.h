// A plan step by step, as bars for a terminal or in Markdown's fence:
//
//     today                    52.93 GiB           ##########################################
//     rematerialize            20.24 GiB  -32.68   ################..........................
//     halve the batch          11.03 GiB   -9.22   #########.......
//     capacity 15.75 GiB                                       ^
//
// Dots are what the step takes away.
#pragma once

#include "analysis/advice/advice.h"
#include "analysis/base/arena.h"

// On `arena`; NULL at its limit.
const char *waterfall_text(const struct advice *advice, const struct advice_plan *plan, bool is_markdown,
                           struct arena *arena);
