// The rules of dimension_flow.h, one operation at a time. Private to this room.
#pragma once

#include "analysis/advice/dimension_flow.h"

// Carries marks between the operands and the result of one node, both ways, and between a call and what it calls.
void dimension_ties_apply(struct dimension_flow *flow, uint32_t node);

// One dimension of one leaf is one of another.
void dimension_tie(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b);

// Each dimension of two leaves that have the same dimensions.
void dimension_tie_all(struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b);

// dot, convolution, gather, scatter: rules that need the operation's own dimension numbers.
void dimension_ties_of_dot(struct dimension_flow *flow, const struct graph_node *node);
void dimension_ties_of_convolution(struct dimension_flow *flow, const struct graph_node *node);
void dimension_ties_of_gather(struct dimension_flow *flow, const struct graph_node *node);
void dimension_ties_of_scatter(struct dimension_flow *flow, const struct graph_node *node);

// Does a dot or a convolution sum over a marked dimension? False for all else.
bool dimension_ties_is_contracted(const struct dimension_flow *flow, const struct graph_node *node);

// A repeated field of small numbers inside a message: how many, at most ARRAY_RANK_MAX.
int dimension_numbers_read(struct bytes message, uint32_t field, int numbers[ARRAY_RANK_MAX]);

static inline const struct array_shape *flow_leaf(const struct dimension_flow *flow, uint32_t leaf) {
    return &flow->graph->leaves[leaf];
}

// The only array of an operand; HLO_NONE when it is none or a tuple.
static inline uint32_t flow_operand_leaf(const struct dimension_flow *flow, const struct graph_node *node, uint32_t i) {
    uint32_t operand = graph_operand(flow->graph, node, i);
    if (operand == HLO_NONE || flow->graph->nodes[operand].leaf_count != 1) return HLO_NONE;
    uint32_t leaf = flow->graph->nodes[operand].first_leaf;
    return array_is(flow_leaf(flow, leaf)) ? leaf : HLO_NONE;
}
