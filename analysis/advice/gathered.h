// What a program for several GPUs holds whole, though its weights are split by their rows; TPUs are told of in
// advise_sharding.c.
//
//     batch split:  all-gather w  ->  x . w  -> ... ->  dy . w'     a gathered weight serves forward and backward
//                                                                   pass: all wait for the end of the forward pass
//     batch whole:  all-gather dy ->  dy . w' -> ... ->  x' . dy    gradients of activations first (the chain of
//                                                                   collectives), those of weights last
//
// Seen in modules that XLA:GPU partitioned with its latency-hiding scheduler (docs/advice.md). Where nothing is trained
// a gathered weight is free after its product; the scheduler starts gathers early, so that about half of them are there
// at once. In loops one turn's weights are there.
#pragma once

#include "analysis/advice/advisor.h"

// Bytes of whole weights at the peak, with the batch split.
int64_t gathered_weights_bytes(const struct advisor *advisor);

// With the batch whole: bytes of temporaries at the end of the backward pass, whole gradients and what waits for them.
int64_t gathered_gradients_bytes(const struct advisor *advisor);

// With the batch whole, where nothing is trained: a sum over chips is an array of its own, which a fusion around the
// product was not. The largest, in bytes.
int64_t unfused_product_bytes(const struct advisor *advisor);
