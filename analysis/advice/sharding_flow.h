// Where the partitioner splits each array, given how inputs are split over one axis of chips.
//
//     w f32[1024/4,4096]   tokens s32[8/4,512]  ->  x bf16[8/4,512,1024]  ->  x . w  bf16[8/4,512,4096]
//
// One axis splits one dimension of an array: where a weight and the batch would both, one of them loses. As Shardy has
// it (shardy/dialect/sdy/transforms/propagation; openxla/shardy a0277a83):
//
//     what goes first    elementwise operations, reshapes, and out of what a loop takes one of at a time; then
//                        dimensions that operand and result both have; then those that are summed over, and those of
//                        parts that are cut or joined; into broadcasts last (op_priority_propagation.cc)
//     who goes first     operations in program order, a loop's body before what it carries; who is next to a new split
//                        comes again at once (basic_propagation.cc: the worklist of MLIR's greedy driver, from its end)
//     who wins           dimension_tie_list.h
//     and then           what is split stays as it is
//
// Shardy sees the program before the compiler optimizes it, without tuples and fusions; of these, which only hand
// arrays on, all are asked before anybody else. Knows nothing of how split arrays are then computed: no collectives.
#pragma once

#include "analysis/advice/dimension_flow.h"

// `flow` has the chips, the inputs' marks, and is_blocked for all inputs, which stay as they are given. Marks the rest,
// at most one dimension an array, none that the chips cannot share. Its work is at most what FLOW_PASSES_MAX passes
// take: what a hostile program leaves open is marked in program order. False at the arena's limit.
MUST_USE bool sharding_flow_run(struct dimension_flow *flow, struct arena *arena);
