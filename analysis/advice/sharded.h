// A program on several chips, as the advice sees it: what is split, what each array weighs then, what comes on top.
#pragma once

#include "analysis/advice/batch_reach.h"
#include "analysis/advice/early_zeros.h"
#include "analysis/advice/gathered.h"
#include "analysis/advice/sharding_habits.h"
#include "analysis/advice/sharding_split.h"
#include "analysis/advice/summed_whole.h"
#include "analysis/advice/whole_pictures.h"

struct uneven {     // arrays of some size with a dimension to split
    bool is_any;    // that the chips do not divide
    bool is_whole;  // nor any part of the chips
};

struct sharded {  // the program on one of the chips
    bool is_batch_split;
    struct sharding_split split;
    struct uneven uneven;
    struct sharding_habits habits;
    struct batch_reach batch;      // with the batch split
    const uint8_t *looked_up;      // looked_up.h
    const uint8_t *summed_leaves;  // scattered.h
    struct whole_pictures pictures;
    const uint8_t *whole_operands;  // whole_operands.h; NULL: none
    struct what_if_result then;
    int64_t weights_bytes;  // whole on each with the batch split, where not one is at a time: gathered.h
    struct waiting_bytes waiting;
    struct summed_whole summed_whole;
    struct early_zeros zeros;  // of a step on GPUs
};

// Are edges of a graph, and all that follows them, split along with the weights of a TPU's program?
bool sharded_is_by_edges(const struct advisor *advisor, const struct sharded *sharded);

// Is the batch whole on each chip, or as good as that?
bool sharded_is_batch_whole(const struct sharded *sharded);

// Of a product that stays whole, what its sum likely takes beside a chip's part of it: with the batch whole, but for
// loops over time, where the peak is elsewhere.
int64_t summed_twice_bytes(const struct sharded *sharded);

// What comes on top of the split arrays at the peak: what is gathered, or exchanged, or waits.
int64_t sharded_added_bytes(const struct advisor *advisor, const struct sharded *sharded);

// With zeros there early, what is alive beyond the peak of what is split and what outputs have room for.
int64_t sharded_beyond_with_zeros(const struct sharded *sharded);

// A chip's part of a sum beside the whole: half of it, as some programs had both and others wrote one over the other.
// What XLA:GPU cuts into columns it cuts as it sums.
int64_t sharded_partial_sum_bytes(const struct advisor *advisor, const struct sharded *sharded);
