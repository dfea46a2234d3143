// Bytes for the fixes: what the advice predicts for the joined program, and the plan that fits the capacity.
//
//     diagnosis.fixes [ { id "donate_inputs", saves -1 } ... ]  +  advice of the program  ->  saves_bytes, plan
//
// Fixes whose saving the diagnosis knows keep it, as do those that the advice knows nothing of. A program that cannot
// be advised on leaves all as it is: that is no error of the explanation.
#pragma once

#include "analysis/advice/advice.h"
#include "analysis/oom/oom_diagnosis.h"
#include "server/store/work.h"

// Fills saves_bytes of the fixes that help; fixes come in order of what they save, those without a figure after them as
// they stood. The advice, for its plan; NULL when there is none. On the work's arena.
const struct advice *explain_advice_add(struct work *work, const struct hlo_module *module, int64_t capacity_bytes,
                                        struct oom_diagnosis *diagnosis);
