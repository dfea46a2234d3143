// The ties of one operation, applied in the order in which its dimensions win where an array can take only one mark:
//
//     x bf16[8/4,512,1024] . w bf16[1024,32000/4] -> [8,512,32000]: the batch of x or the columns of w, not both
//     ties   x 0 - result 0    4 Mi elements are marked
//            w 1 - result 2   31 Mi elements are marked: first
//
// As Shardy's partitioner has it: the dimension that is split in the larger array, then that of the first operand
// (AggressiveFactorPropagation in shardy/dialect/sdy/transforms/propagation/aggressive_factor_propagation.cc;
// openxla/shardy a0277a83). Private to this room.
#pragma once

#include "analysis/advice/dimension_marks.h"

enum { TIE_LIST_MAX = 4 * ARRAY_RANK_MAX };  // a dot whose dimensions are all of its batch has 3 x ARRAY_RANK_MAX

struct dimension_tie_list {
    struct dimension_tie {
        uint32_t leaf_a, leaf_b;
        int a, b;
        bool is_summed;  // over: waits for FLOW_SUMMED
        double marked;   // elements of the larger array that is marked
    } at[TIE_LIST_MAX];
    int count;
};

// Numbers of dimensions may be any.
void dimension_tie_list_add(struct dimension_tie_list *list, uint32_t leaf_a, int a, uint32_t leaf_b, int b);
void dimension_tie_list_add_summed(struct dimension_tie_list *list, uint32_t leaf_a, int a, uint32_t leaf_b, int b);

void dimension_tie_list_apply(struct dimension_flow *flow, struct dimension_tie_list *list);
