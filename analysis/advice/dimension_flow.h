// Which dimensions are the same quantity all through a program: mark the batch dimension of the inputs, and every
// dimension that grows and shrinks with it gets marked.
//
//     tokens s32[8,512]   -> x bf16[8,512,768]  -> bitcast bf16[4096,768] -> dot bf16[4096,3072] -> ...
//                ^ marked            ^                          ^ 8 x 512                ^
//
// The rules are the definitions of the operations (XLA's "Operation Semantics"): an elementwise operation ties each
// dimension of its operands to the result's, a dot ties contracted ones to each other, a reshape ties a merged
// dimension to the first of its parts that a mark covers, a fusion or a loop ties operands to the parameters of what it
// calls. Ties hold both ways, so marks also reach what is only made for marked values (zeros that a loop fills, masks).
// Where two dimensions of one operation merely happen to have the same size, nothing is tied, except in operations that
// are not known: there equal shapes correspond. The indices of a gather or a scatter, which XLA:TPU pads to multiples
// of 1024, stay one quantity with what they were before. What a GPU's library computes (library_call.h) is the product,
// the convolution or the attention that it stands for.
//
// A merged dimension remembers which of its factors is marked, so that heads come out of [batch x heads, ...] as heads.
//
// Marks are bits, one a dimension, for each leaf of the graph. Runs until nothing changes, or FLOW_PASSES_MAX.
#pragma once

#include "analysis/advice/dimension_marks.h"

enum { FLOW_PASSES_MAX = 64 };

void dimension_flow_run(struct dimension_flow *flow);

// Do marks reach a dimension that is taken one of at a time, as a loop takes its steps?
bool dimension_flow_is_stepped(const struct dimension_flow *flow);

// Do marks reach a dimension that a dot or a convolution sums over?
bool dimension_flow_is_contracted(const struct dimension_flow *flow);
