// What differentiating x.at[rows].set(y) takes beside it: another scatter, of numbers that say which of y is where
// (_scatter_jvp in jax/_src/lax/slicing.py), as large as what is written, in 32 bits. x.at[rows].add(y) takes none, nor
// does unique_indices=True.
//
//     seats bf16[8,16,40,512]  = scatter(zeros, places, rows)        u32[8,640,512] = scatter(zeros, places, numbers)
#pragma once

#include "analysis/advice/advisor.h"

// In the forward pass, of all that follows the batch, in no loop.
int64_t scattered_numbers_bytes(const struct advisor *advisor);
