// Donated inputs of data that chips have whole while what takes their place is split: an array of another shape has no
// place in them.
//
//     cache bf16[32,2048,32,64], whole as data is with the batch whole  ->  written by heads: bf16[32,2048,32/4,64]
//
// Weights are split as their outputs are. With the batch split, caches are too, and their outputs with them.
#pragma once

#include "analysis/advice/sharding_split.h"

// What such outputs take on a chip beside the inputs.
int64_t unaliased_bytes(const struct advisor *advisor, const struct sharding_split *split, bool is_batch_split);
