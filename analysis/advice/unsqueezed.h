// The heap simulator trace of a program as it were if XLA had not rematerialized it by itself.
//
//     as it is     fusion.7 |====|            fusion.7.remat |====|        two arrays, each for a while
//     unsqueezed   fusion.7 |====================================|        one, from the first to the last use
//
// hlo_rematerialization.cc (openxla/xla, xla/hlo/transforms/simplifiers) calls a copy of an instruction NAME.remat,
// NAME.remat2 and so on. Where the original is gone (all that read it reads copies) the first copy stands for it,
// though that came later: so this is less than it was for some programs. Copies of the opcode "copy" stay as they are.
#pragma once

#include "analysis/memory/heap_replay.h"

// With `are_of_parts` a copy that makes one array may be of any of the original's that is as large. `result` names
// buffers of `module` as `events` does, and has as many; without a copy it is `events`. On `arena`. False at its limit.
MUST_USE bool unsqueezed_events(const struct hlo_module *module, struct heap_events events, bool are_of_parts,
                                struct arena *arena, struct heap_events *result);
