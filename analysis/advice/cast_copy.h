// Bfloat16 copies of float32 inputs that a step makes before it computes: which of them go with bfloat16 inputs.
//
//     w f32[16,2048,8192]{2,1,0} -- convert --> bf16[16,2048,8192]{2,1,0}    goes: w itself is read then
//     w f32[16,2048,2048]{2,1,0} -- copy -----> bf16[16,2048,2048]{1,2,0}    stays: it lies as its product wants it
#pragma once

#include "analysis/advice/advisor.h"

// And the other way: float32 copies that a step of a GPU makes, which computes in float32 what is stored in bfloat16.
//
//     w bf16[24,1024,4096] -- convert --> f32[24,1024,4096] --> while: layers, or parts of the batch, take it as it is
//     w bf16[768,3072] ------ convert --> f32[768,3072] ------> __cublas$lt$matmul, forward and backward
//
// A library's product takes both operands in one type. A TPU's product rounds them in any case, and copies nothing.

// Is a leaf such a copy, and nothing else than the input in another type?
bool cast_copy_is_needless(const struct advisor *advisor, uint32_t leaf);

// Adds these to what is left where float32 weights are stored in bfloat16, and to the advisor's reach: all that
// products take where the step turns to its backward pass, and what the user's loops are given as long as these run.
// `added` is what it added, 0 for TPUs. False at the arena's limit, with the error set.
MUST_USE bool cast_copy_add_widened(struct advisor *advisor, struct what_if_result *stored, int64_t *added);
