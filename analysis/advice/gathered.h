// What a program for several chips holds whole, though its weights are split by their rows.
//
//     batch split:  all-gather w  ->  x . w  -> ... ->  dy . w'     a gathered weight serves forward and backward
//                                                                   pass: all wait for the end of the forward pass
//     batch whole:  all-gather dy ->  dy . w' -> ... ->  x' . dy    gradients of activations first (the chain of
//                                                                   collectives), those of weights last
//
// Seen in modules that XLA:GPU partitioned with its latency-hiding scheduler (docs/advice.md); a TPU's may gather fewer
// at a time. Where nothing is trained a gathered weight is free after its product; the scheduler starts gathers early,
// so that half of them are there at once (a fifth where many rows meet each). In loops one turn's
// weights are there, and of those that no trained product reads, a teacher's, the largest alone.
#pragma once

#include "analysis/advice/advisor.h"

// Of weights whose split dimension the result has as well, as experts, nothing is gathered: `split` is that of the
// weights, and of the batch where that is split too (sharding_split.h).

// Bytes of whole weights at the peak, with the batch split. False: the error is set.
MUST_USE bool gathered_weights_find(const struct advisor *advisor, const struct dimension_flow *split,
                                    int64_t *gathered_bytes);

// With the batch whole: bytes of temporaries at the end of the backward pass, whole gradients and what waits for them.
int64_t gathered_gradients_bytes(const struct advisor *advisor, const struct dimension_flow *split);

// What a TPU's chips may hold of these beyond `temporary_bytes`, how much nothing shows before the change. With the
// batch whole, the operands are in bfloat16 at most, as a TPU multiplies them. With `is_pooled` (pooled.h), and the
// batch split as well: what the forward pass kept is exchanged, beside what it was.
struct waiting_bytes {
    int64_t fewest, likely, most;
};
struct waiting_bytes gathered_on_tpu(const struct advisor *advisor, const struct dimension_flow *split, bool is_pooled,
                                     int64_t temporary_bytes);

// With the batch whole, where nothing is trained: a sum over chips is an array of its own, which a fusion around the
// product was not. The largest, in bytes.
int64_t unfused_product_bytes(const struct advisor *advisor);

// With the batch split too, of a program for GPUs: a weight that is split by the columns of its product, and larger
// than what it is multiplied with, keeps its split (logits of a table, or of weights [out, in]).
//
//     x [8,512,768] . w' [768,32000/4]  -> f32[32,512,8000] -> exchanged -> f32[8,512,32000]
//
// Bytes at the peak that come on top of the product's; 0 where it is not at the peak. Where the batch won the
// product, nothing is exchanged.
int64_t exchanged_product_bytes(const struct advisor *advisor, const struct dimension_flow *split);
