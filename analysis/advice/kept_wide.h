// What a careful program computes in float32 on purpose, and would in a step that is otherwise bfloat16: what a softmax
// takes exponentials of.
//
//     x bf16 . w bf16 -> logits  --astype(float32)--> exp       logits: float32, and beside it bfloat16 (made twice)
//     q bf16 . k bf16 -> scores                       exp       scores: the product's own type, and their softmax too
//                                                               in a step that is in float32 now
//     sigmoid, softplus, ...                          exp       keeps the type that it is given
//
// By the names of operations: libraries' layers take softmaxes in their own type, and so do most who write attention by
// hand; jax.nn.dot_product_attention does not. Tells shapes: whatever has the dimensions of such an array is one. Says
// nothing of sums and norms.
#pragma once

#include "analysis/advice/advisor.h"
#include "analysis/advice/shape_set.h"

// The dimensions of what exponentials are taken of. Borrows the program's shapes.
struct shape_set kept_wide_find(const struct advisor *advisor);

// Scores [batch, heads, queries, keys] as their product made them have the type of queries and keys: what a softmax
// makes of them in float32 is an array of its own only where something else made the array. Logits have fewer
// dimensions.
bool kept_wide_is_of_scores(const struct advisor *advisor, uint32_t leaf);

// Logits that stay float32 for their loss: a step in bfloat16 makes them in both types, and both wait for the backward
// pass. Seen in six programs that take exponentials of them at three places and more, as optax's loss of all words
// does; not in four whose words are shifted, or which take log_softmax. A step that is in bfloat16 has both already.
struct shape_set kept_wide_made_twice(const struct advisor *advisor, const struct shape_set *exponentials);

// Is it a product that has such dimensions?
bool kept_wide_is_made_twice(const struct advisor *advisor, uint32_t leaf, const struct shape_set *twice);
