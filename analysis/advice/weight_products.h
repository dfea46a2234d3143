// The products of the forward pass in which an array that follows the batch meets a weight.
//
//     x bf16[8,512,768] . w[768,3072]  -> bf16[8,512,3072]     one operand follows the batch: a weight product
//     q [8,12,512,64]   . k            -> scores               both do: none
//
// Dots, and calls of cuBLAS, also inside of fusions, where they were the user's dot_general. No convolutions.
#pragma once

#include "analysis/advice/advisor.h"

struct weight_product {
    uint32_t weight, activation, result;  // leaves
    uint8_t weight_batch;                 // bits of the weight's dimensions that the result has one by one, as experts
    bool is_in_loop;                      // of the user's: in the body of a while
    bool is_repeated;                     // of one that is differentiated, over layers or time: none over micro-batches
    bool is_fused;                        // its result is an array of its own only where no fusion takes it
};

// False: node `index` is none.
bool weight_product_read(const struct advisor *advisor, uint32_t index, struct weight_product *product);

// The same, where both operands are split along what it sums over: each chip has a part of the sum, as large as all.
bool weight_product_is_summed(const struct advisor *advisor, const struct dimension_flow *split, uint32_t index,
                              struct weight_product *product);

// How many rows the activation has, by the elements of all three; 0: there is no telling.
double weight_product_rows(const struct advisor *advisor, const struct weight_product *product);

// Of a product of the forward pass that a loop's turn makes of no data and without a batch, as of two weights: its
// bytes. 0: it is none.
double unbatched_product_bytes(const struct advisor *advisor, uint32_t index);

// Of the result, in the type that the program has the activation in: the compiler may sum in a wider one, and round
// what it multiplies.
double weight_product_bytes(const struct advisor *advisor, const struct weight_product *product);

// The array that a product's weight is, or is a copy of: several products may read one, as of layers that share their
// weights.
uint32_t weight_product_source(const struct advisor *advisor, uint32_t weight);
