// Convolutions of groups of features, which chips of GPUs that share the batch do not share.
//
//     x [96,56,56,448]  k [3,3,112,448], 4 groups   ->  [96,56,56,448] whole on each of 4 chips
//     a batch norm cuts out the chip's examples     ->  [24,56,56,448]
//
// The input is gathered, the result is whole, and stays so until the backward pass; its gradient with respect to the
// input likewise. Where each feature is a group of its own, chips share the features. Seen in modules of XLA:GPU
// (docs/advice.md: RegNetY and ResNeXt, all of their groups). Says nothing of loops, whose stacks were seen of no such.
#pragma once

#include "analysis/advice/advisor.h"

// 1 for each leaf that is such a result; zeros for a TPU, or with the batch whole anyway. On the arena. NULL: no
// memory, with the error set.
uint8_t *grouped_convolutions_find(const struct advisor *advisor, bool is_batch_split);

// Of those, what is live at the peak, in bytes.
int64_t grouped_convolutions_bytes(const struct advisor *advisor, const uint8_t *grouped);
