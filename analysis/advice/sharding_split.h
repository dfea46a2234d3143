// Which dimension of each array is split over the chips, when the weights are and the batch is or is not.
//
//     w f32[1024,4096]        f32[1024/4,4096]           a weight, its optimizer state, its output: what the user says
//     x bf16[8,512,1024]      batch whole:  bf16[8,512,1024/4]   meets w's split dimension, and is split with it
//                             batch split:  bf16[8/4,512,1024]   or the other, whichever wins (sharding_flow.h)
//
// What no split dimension reaches stays whole. Says nothing of what is gathered.
#pragma once

#include "analysis/advice/advisor.h"
#include "analysis/advice/sharding_parts.h"

struct sharding_split {
    struct dimension_flow flow, rest;
    int8_t *dimension;    // of each leaf: the one that is split by being a weight or its mirror; -1 none
    bool is_by_features;  // convolutions: split by output features, so that each gathers its whole input
};

// False at the arena's limit, with the error set.
MUST_USE bool sharding_split_find(struct advisor *advisor, bool is_batch_split, struct sharding_split *split);

// Bits of dimensions of which one is split.
uint8_t sharding_split_marks(const struct sharding_split *split, uint32_t leaf);

// Is that input one of the arrays that are split by their own right?
bool sharding_is_weight(const struct advisor *advisor, uint32_t input);

// The dimension that the advice splits of a weight; -1 when none can be.
int sharding_weight_dimension(const struct advisor *advisor, uint32_t leaf);
