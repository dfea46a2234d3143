// Does a program make one row of many before its last product, as classifiers do?
//
//     x [64,256,768] . w1, w2 ...     16,384 rows in the blocks
//     mean over 256, or the first     64 rows, one an example; for a GPU also a few, as of crops of a picture
//     x [64,768] . head[768,1000]     the last product: its gradient is spread over the 256 again
//
// It matters where the batch is split over the chips that split the weights too. The gradient of the blocks then begins
// as an array that is split by its columns, as the last weight's rows are, not by its examples; and what the forward
// pass kept is exchanged between the two, beside what it was. A gradient that begins with a product of as many rows as
// the blocks have stays split by examples (seen in modules of libtpu 0.0.52: one model with a mean and without).
//
// Products in loops do not count, nor programs that train nothing. A time or class that is embedded beside the data has
// few rows as well, but not last.
#pragma once

#include "analysis/advice/advisor.h"

bool pooled_find(const struct advisor *advisor);
