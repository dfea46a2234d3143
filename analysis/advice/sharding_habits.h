// How well it is known what the partitioner makes of a program: how far a prediction about sharding may be off.
//
//     tokens, attention whose heads the chips divide     a few per cent: the many models that the rules were seen in
//     nine heads on four chips                           what is gathered for whole heads is seen in parts only
//     a loop over time                                   each turn's collectives are placed as none of layers' are
//     one row of many before the last product            gradients are split otherwise than activations (pooled.h)
//     features looked up in tables of their own          copies of the chips' parts, rows that are sent around
//     anything else                                      data that are no tokens
//
// Says nothing of convolutions and graphs, which advise_sharding.c doubts by their bytes.
#pragma once

#include "analysis/advice/data_kind.h"

struct sharding_habits {
    struct data_kind data;
    bool is_uneven;  // an array of some size has a dimension to split that the chips do not divide
    bool is_training;
    bool is_over_time;  // loops whose turns share their weights
    bool is_of_tables;  // only_looked_up.h
    bool is_pooled;     // pooled.h
};

// `is_uneven` is the caller's, who splits.
struct sharding_habits sharding_habits_find(const struct advisor *advisor, bool is_uneven);

// Are they those of the models that the rules were seen in?
bool sharding_is_familiar(const struct sharding_habits *habits);

// Widens the item's range to how far off it may be where they are others.
void sharding_widen(const struct sharding_habits *habits, bool is_batch_split, bool is_for_gpu,
                    struct advice_item *item);
