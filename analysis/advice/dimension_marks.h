// Which dimensions of which arrays are marked, and what marking one means for another. What dimension_flow.h follows
// through a program, and its rules carry on; knows no operation.
//
//     bf16[8,512,768]   marks 0b001: dimension 0 is marked
#pragma once

#include "analysis/program/program_graph.h"

struct dimension_flow {
    const struct program_graph *graph;
    uint8_t *marks;            // of each leaf: bit d for dimension d
    uint8_t *is_blocked;       // leaves that take no marks (weights, when the batch is followed)
    const uint8_t *forbidden;  // of each leaf: bits of dimensions that take none; NULL: none
    bool has_changed;
};

// False at the arena's limit.
bool dimension_flow_init(struct dimension_flow *flow, const struct program_graph *graph, struct arena *arena);
void dimension_flow_clear(struct dimension_flow *flow);
void dimension_flow_mark(struct dimension_flow *flow, uint32_t leaf, int dimension);
bool dimension_flow_has_marks(const struct dimension_flow *flow);

// One dimension of one leaf is one of another.
void dimension_tie(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b);

// Each dimension of two leaves that have the same dimensions.
void dimension_tie_all(struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b);

// The leaf's shape with each marked dimension divided by `ways`, rounded up.
struct array_shape dimension_flow_divided(const struct dimension_flow *flow, uint32_t leaf, int64_t ways);

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
