// Arrays that are put together, or taken apart, along the dimension that the chips share.
//
//     four features [16384,128,72/4] joined -> [16384,128,288/4]     on each chip a quarter of every feature before,
//                                                                    and one whole feature after
//
// The partitioner sends the pieces around, one array for each, and several wait at once. Says nothing of how many.
#pragma once

#include "analysis/advice/sharding_split.h"

// Bytes of the largest part, whole; 0 where none is joined so. What the compiler cuts by itself does not count.
int64_t joined_most_bytes(const struct program_graph *graph, const struct dimension_flow *split);
