// The fixes of a diagnosis with figures: what advice on the joined program predicts of each.
//
//     diagnosis.fixes [ donate_inputs, xla_flags ]  +  advice   -->   fixes     [ shard_all 4.9 GiB, xla_flags ]
//                                                                       excluded  [ donate_inputs: donated already ]
//
// Every change that the advice finds of use is offered, what saves most first; behind them those that nothing predicts,
// the likeliest first. What the program rules out, or what would save next to nothing, is not offered but told with the
// reason. The bytes are the advice's own: nothing is computed here.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/oom/oom_diagnosis.h"

// `advice` is borrowed by the diagnosis; reasons that it does not give itself are on `arena`.
void oom_fixes_advise(struct oom_diagnosis *diagnosis, const struct advice *advice, struct arena *arena);
