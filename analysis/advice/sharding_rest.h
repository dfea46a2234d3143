// What chips share beside a dimension that is too small for all of them.
//
//     q bf16[4096,3072/4]  ->  bf16[4,1024,2/2,12/2,128]     two groups of twelve heads, on four chips: two chips share
//                                                            the groups, and two the heads of each
//
// A dimension of a reshape that is shared by fewer chips than what it was made of hands the others on to the dimension
// behind it, as Shardy's sub-axes do (shardy/dialect/sdy/transforms/propagation/basic_factor_propagation.cc;
// openxla/shardy a0277a83). Follows what such arrays share among each other only, of one number of chips.
#pragma once

#include "analysis/advice/dimension_marks.h"

// `split` has the chips, and what they share by itself. `rest` has no chips where nothing is left to share. False at
// the arena's limit.
MUST_USE bool sharding_rest_find(const struct dimension_flow *split, struct arena *arena, struct dimension_flow *rest);
