// Which arrays lie as the caller gave them: inputs that are split no way, and what only hands them on.
//
//     batch[1] f32[1536,9408] -> copy -> tuple -> loop -> element     the same array, whole on each chip all the way
//     cache -> copy -> loop -> its next value                         not the same: the loop makes it, of the copy too
//
// The partitioner sees a program before the compiler copies arrays about and narrows what it multiplies; there the
// user's operations read the input itself, and take what its caller says, nothing else. What a loop reads from outside
// it may lay out anew for itself (OpenWhileFreeVarsSharding in xla/service/spmd/shardy), so in loops nothing is given.
#pragma once

#include "analysis/advice/dimension_flow.h"

// Sets is_blocked of all leaves that are one of the inputs which are blocked and not marked. Leaves `flow` as it is
// where the ways between them are too long to tell. False at the arena's limit.
MUST_USE bool given_data_block(struct dimension_flow *flow, struct arena *arena);
