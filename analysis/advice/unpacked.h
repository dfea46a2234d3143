// Weights that are kept packed in bytes, as the program has them once it has unpacked them:
//
//     u8[6144,768] --and--convert--> bf16[6144,768] --multiply by scales, concatenate--> bf16[6144,1536]
//
// What is made of frozen packed weights and of nothing else but constants and frozen scales. It waits for the backward
// pass as activations do, and a block that runs again unpacks again.
// What a loop unpacks at each of its turns is a stack that it fills (loop_stacks.h).
#pragma once

#include "analysis/advice/advisor.h"

// For each node of the entry whether it is; NULL at the arena's limit.
bool *unpacked_find(const struct advisor *advisor);
