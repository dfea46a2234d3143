// With the batch whole, what chips cut out of inputs for loops that are split otherwise than the inputs are.
//
//     heard bf16[32,16,1500,1280]  whole on each chip, as its caller gives it
//     loop over layers             reads bf16[32,16,1500,1280/4], as its queries come from weights that are split
//     so                           a part of it is cut out before the loop, and lies beside the whole
//
// Only what goes into a loop as it is: of what is copied first, the copy is the part. Outside of loops the user's
// operations read the input itself (given_data.h).
#pragma once

#include "analysis/advice/sharding_split.h"

// Bytes of those parts on a chip. 0 where fast memory holds all of them, and at the arena's limit.
int64_t sliced_inputs_bytes(const struct advisor *advisor, const struct sharding_split *split);
