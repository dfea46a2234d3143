// From a program to advice on it.
//
//     module -> graph -> roles (state, data, batch) -+-> what each buffer becomes -> heap replayed -> total, peak
//                     -> types, phases, dimensions --'                               range, evidence, what to write
//
// Reads the program once for all interventions (advisor.h), asks each in turn (advise_*.c), then plans.
#pragma once

#include "analysis/advice/advice.h"
#include "analysis/hlo/hlo_module.h"

const char *advice_id_name(enum advice_id id);  // "donate_inputs"

// The advice, with the plan for the capacity that the request tells.
MUST_USE bool advice_make(const struct hlo_module *module, const struct advice_request *request, struct arena *arena,
                          struct advice *advice, struct error *error);
