// Activations in columns that chips of a GPU gather for a product, since they share the columns of its weight: those of
// weights [out, in], as in equinox and PyTorch, are its first dimension. All are in columns with the batch whole, and
// some where it is split.
//
//     x [256,197,3072/4]  ->  [256,197,3072]  w' [3072,768/4]   ->  [256,197,768/4]
//     the gradient of w:      dy' [768/4,50432] . x [50432,3072]
//
// Both passes need all of it, so that it is gathered once and stays until the backward pass. Weights whose rows are
// shared need no activation whole (gathered.h: they need gradients). Says nothing of loops, where each turn gathers its
// own, of experts, nor of a step that trains nothing.
#pragma once

#include "analysis/advice/weight_products.h"

// 1 for each leaf that stays whole for that. NULL at the arena's limit.
const uint8_t *whole_operands_find(const struct advisor *advisor, const struct dimension_flow *split);
