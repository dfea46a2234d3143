// What chips of GPUs have whole of convolutions, though they share the batch, or the features.
//
//     the batch is split: convolutions of groups of features
//
//     x [96,56,56,448]  k [3,3,112,448], 4 groups   ->  [96,56,56,448] whole on each of 4 chips
//     a batch norm cuts out the chip's examples     ->  [24,56,56,448]
//
//     the batch is whole: what each convolution takes, for the gradient of its kernel too
//
//     x [256,80,80,64/4]  ->  [256,80,80,64]  k [3,3,64,64/4]   ->  [256,80,80,64/4]
//
// Of groups the input is gathered, and the result stays whole until the backward pass; its gradient with respect to
// the input likewise. With the batch whole each input is gathered once, for both passes, and the gradients of kernels
// come late: as the backward pass ends there are all inputs whole, the gradients of all outputs in parts, and two
// arrays more that are on their way. With the batch split, inputs of convolutions that features win are whole as well,
// as in a VQGAN. Where each feature is a group of its own, chips share the features. Seen in modules of XLA:GPU
// (docs/advice.md: RegNetY, ResNeXt, ResNet-D, EfficientNetV2, a U-Net and more). Says nothing of gradients of
// gradients, of loops, of convolutions over time, and of programs that are mostly something else.
#pragma once

#include "analysis/advice/sharding_split.h"

struct whole_pictures {
    uint8_t *leaves;       // 1 for each that is whole
    int64_t at_end_bytes;  // on the heap as the backward pass ends, with the batch whole; 0: it is not told
};

// False at the arena's limit, with the error set.
MUST_USE bool whole_pictures_find(const struct advisor *advisor, const struct sharding_split *split,
                                  bool is_batch_split, struct whole_pictures *whole);
