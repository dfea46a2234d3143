// Bfloat16 copies of float32 inputs that a step makes before it computes: which of them go with bfloat16 inputs.
//
//     w f32[16,2048,8192]{2,1,0} -- convert --> bf16[16,2048,8192]{2,1,0}    goes: w itself is read then
//     w f32[16,2048,2048]{2,1,0} -- copy -----> bf16[16,2048,2048]{1,2,0}    stays: it lies as its product wants it
#pragma once

#include "analysis/advice/advisor.h"

// Is a leaf such a copy, and nothing else than the input in another type?
bool cast_copy_is_needless(const struct advisor *advisor, uint32_t leaf);
