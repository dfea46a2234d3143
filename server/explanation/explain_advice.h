// Bytes for the fixes: what the advice predicts for the joined program, and the plan that fits the capacity.
//
//     diagnosis.fixes [ { "donate_inputs", ? } ... ]  +  advice of the program  ->  fixes with predictions, plan
//
// A program that cannot be advised on leaves all as it is: that is no error of the explanation. The
// advice is made once for a program and kept in the cache; of its own a message has the plan, for its capacity.
#pragma once

#include "analysis/advice/advise.h"
#include "analysis/oom/oom_diagnosis.h"
#include "server/store/module_store.h"

// The advice of a program, through the cache; NULL in *advice when it cannot be advised on. False: it may be otherwise
// the next time; *error is filled.
MUST_USE bool explain_advice_of(struct work *work, const struct found_module *found, const struct advice **advice,
                                struct error *error);

// Puts figures to the fixes (oom_advised.h). The advice with the plan for this capacity, on `arena`; NULL at its limit.
const struct advice *explain_advice_add(const struct advice *advice, int64_t capacity_bytes, struct arena *arena,
                                        struct oom_diagnosis *diagnosis);
