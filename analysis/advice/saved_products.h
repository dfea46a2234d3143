// The results of products with weights in the repeated blocks of a forward pass: what jax.checkpoint keeps of a block
// with the policy dots_with_no_batch_dims_saveable, beside the block's input.
//
//     x bf16[8,512,768] . w[768,3072]  -> bf16[8,512,3072]     kept: one operand follows the batch
//     q [8,12,512,64]   . k            -> scores               not kept: both do, so the product has batch dimensions
//     x . head[768,32000]              -> logits               not kept: no block has it
//     a[768,32] . b[32,3072]           in a loop       kept: of two weights, as DoRA's, without a batch
//     x . frozen[768,3072]             in a loop that keeps nothing for a backward pass: not kept
//
// What a block ends with is the next one's input, or is added to it: the backward pass never reads that product, so it
// is not kept. Does not see which others it never reads.
#pragma once

#include "analysis/advice/block_stages.h"

// Bytes over all blocks. Each stands once in the body of the loop whose `turns` are the blocks; without one (0) once a
// block, also where each block has a loop over time of its own.
double saved_products_bytes(const struct advisor *advisor, const struct block_stages *stages, int64_t turns);
