// Of the dimensions of an array that may be shared, which chips do share, and one chip's part of it.
//
//     [64,196,768]     dimension 2 marked, four chips     [64,196,192]
//     [384,196,196]    384 = 64 x 6, marked from the six  [192,196,196]   four chips share two halves of these
//
// Knows what is marked, not why.
#pragma once

#include "analysis/advice/dimension_marks.h"

// Of bits of dimensions, the one that is split, and into how many parts; -1 and 1: none. `flow` has the chips.
int sharding_parts_of(const struct dimension_flow *flow, uint32_t leaf, uint8_t marks, int64_t *parts);

// How many chips share it, with the rest.
int64_t sharding_parts_shared(const struct dimension_flow *flow, uint32_t leaf, uint8_t marks);

// One chip's part.
struct array_shape sharding_parts_shape(const struct dimension_flow *flow, uint32_t leaf, uint8_t marks);
