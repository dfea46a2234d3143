// How far the batch reaches where the weights are split as well. One axis of chips splits one dimension of an array,
// and where the batch comes late, the columns of a weight are there first (sharding_flow.h).
//
//     pairs [8/4,160,128] -broadcast-> z [8,160,160,128/4]     the partitioner follows broadcasts last, so the layers
//                                                              that z goes through lie in columns: nothing of the batch
//     x [8/4,512,1024] . w [1024,4096/4] -> [8,512,4096/4]     by examples on one side of the product, by columns on
//                                                              the other: what the chips exchange for it, and how much
//                                                              of that is whole meanwhile, depends on the partitioner
//
// Seen in modules that libtpu partitioned (docs/advice.md). Says nothing of what is gathered where the batch is split.
#pragma once

#include "analysis/advice/sharding_split.h"

struct batch_reach {
    double exchanged_bytes;  // of what products have one way on one side, whole
    uint32_t exchanged_at;   // so many products
    double whole_share;      // of what follows the batch at the peak, the part that is not split along it
};

// `split` is that of weights and batch.
struct batch_reach batch_reach_find(const struct advisor *advisor, const struct sharding_split *split);

// Is it the weights that split nearly all of it?
bool batch_reach_is_little(const struct batch_reach *reach);

// Splits what follows the batch along it, as a program does that says so: jax.lax.with_sharding_constraint.
void batch_reach_constrain(const struct advisor *advisor, struct sharding_split *split);
