// Products that are whole on each chip for a moment, though the chips share what is made of them.
//
//     x [8,640,816/4] . w' [816/4,50257]  ->  [8,640,50257] on each chip, its part of the sum
//                                         ->  all-reduce, then cut: [8/4,639,50257]
//
//     x [96,256,1024/4] . w [1024/4,4096]  ->  [96,256,4096] on each chip  ->  reduce-scatter: [96,256,4096/4]
//
// Two of the same rows are whole at once on a GPU, a gate and what it opens for: it makes the second while the first is
// on its way.
//
// Where both operands are split along what the product sums over, and its result along the batch or along columns. Seen
// in modules that libtpu and XLA:GPU partitioned (docs/advice.md): the first mostly of logits, whose last weight has
// rows and whose layers lie in columns; the second of hidden layers, more than a TPU's fast memory holds, also such as
// a fusion made and used up before the change. Says nothing of what is whole longer than a moment (scattered.h).
//
//     h [8,1024,768/4] . table' [768/4,50257]  ->  f32[8,1024,50257] on each chip  ->  all-reduce, in its place or not
//
// Where the result stays whole, a TPU writes the sum over the chip's part; but not where it fused that product with a
// collective (`aliasing_operands` of the all-reduce is empty then), which was seen of float32 only, in two of seven
// programs, and which nothing here tells.
#pragma once

#include "analysis/advice/sharding_split.h"

struct summed_whole {
    int64_t beyond_peak_bytes;  // what the largest of them takes beyond the peak of the heap
    int64_t product_bytes;  // its own, or a pair's; a chip's part is as large, where the sum does not take its place
    bool is_of_examples;    // split along the batch after it, not along columns
    int64_t twice_bytes;    // what one that stays whole takes beyond the peak where the sum is beside it
};

// Of a heap whose buffers have these sizes; zeros: none is beyond its peak. False at the arena's limit, with the error
// set.
MUST_USE bool summed_whole_find(struct advisor *advisor, const struct sharding_split *split, const int64_t *sizes,
                                struct summed_whole *whole);
