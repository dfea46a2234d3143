// Which dimensions of which arrays are marked, and what marking one means for another. What dimension_flow.h follows
// through a program, and its rules carry on; of operations it knows how far they carry.
//
//     bf16[8,512,768]   marks 0b001: dimension 0 is marked
//     bf16[8,12,512,64] marks 0b010 -- bitcast --> bf16[96,512,64]   marks 0b001, starts at 8: of 96 = 8 x 12 the
//                                                                    factor that begins where 8 end
#pragma once

#include "analysis/program/program_graph.h"

// How far marks go; each level comprises those before it.
enum flow_level {
    FLOW_ALIKE,   // elementwise operations, other arrangements of the same elements, calls, loops; into dynamic slices
    FLOW_KEPT,    // whatever operands share with results; but from a broadcast only back into its operand
    FLOW_SUMMED,  // what is summed over; parts that are cut or joined
    FLOW_ALL,     // into broadcasts
};

enum { DOUBLED_MAX = 16 };

struct doubled {  // sizes of dimensions in which what is marked stands twice
    int64_t sizes[DOUBLED_MAX];
    int count;
};

// [64 x 32, 768] and [128 x 256, 768] joined to [34816, 768], marked along what 32 and 256 are of: of the whole comes a
// part with the factors it went in with.
struct joined_part {
    int64_t whole, part;
    double start;
};

enum { JOINED_MAX = 8 };

struct joined_parts {
    struct joined_part of[JOINED_MAX];
    int count;
};

struct dimension_flow {
    const struct program_graph *graph;
    uint8_t *marks;       // of each leaf: bit d for dimension d
    uint32_t *starts;     // of each leaf and dimension that is marked: the product of the factors before the marked one
    uint8_t *is_blocked;  // leaves that take no marks (weights, when the batch is followed)
    const uint8_t *is_fill;    // leaves whose marks go to no others (fills.h)
    const uint8_t *forbidden;  // of each leaf: bits of dimensions that take none; NULL: none
    bool follows_cuts;         // a slice of nearly all of a dimension, and what is padded by little, follow it
    bool ties_parts;           // so does any slice of it
    bool ties_joined;          // so do equal parts, joined or taken apart: pairs of examples, one after the other
    int64_t chips;  // that share what is marked: an array takes one mark, the first that they can; 0: any marks
    const struct dimension_flow *rest;  // what other chips share (sharding_rest.h); NULL: nothing
    enum flow_level level;              // FLOW_ALL unless set
    uint32_t *newly_marked;             // leaves, in order; with chips each once; NULL: nobody asks
    uint32_t newly_marked_count;
    bool has_changed;
    struct doubled doubled;  // empty unless asked for
    struct joined_parts joined;
};

// Notes dimensions that join two marked ones: queries and keys, of a product that goes through [heads, batch x 512 x
// 512]. Half of what is marked is then a quarter of these. Marks both of what such a dimension is taken apart to after
// that: run the flow again.
void dimension_flow_find_doubled(struct dimension_flow *flow);

// False at the arena's limit.
bool dimension_flow_init(struct dimension_flow *flow, const struct program_graph *graph, struct arena *arena);
void dimension_flow_clear(struct dimension_flow *flow);
void dimension_flow_mark(struct dimension_flow *flow, uint32_t leaf, int dimension);
bool dimension_flow_has_marks(const struct dimension_flow *flow);

// The factor of a dimension that begins after factors of that product.
void dimension_flow_mark_factor(struct dimension_flow *flow, uint32_t leaf, int dimension, double start);
double dimension_flow_start(const struct dimension_flow *flow, uint32_t leaf, int dimension);

// What another flow over the same graph marks of a leaf, in place of what this one does.
void dimension_flow_take(struct dimension_flow *to, const struct dimension_flow *from, uint32_t leaf);

// Bits of the dimensions that two flows over one graph mark the same factor of: heads of an array whose examples and
// heads are one dimension are no examples.
uint8_t dimension_flow_shared(const struct dimension_flow *a, const struct dimension_flow *b, uint32_t leaf);

// One dimension of one leaf is one of another, of the same size.
void dimension_tie(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b);

// The same, where one of them is padded.
void dimension_tie_padded(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b);

// The same where one was cut from the other, or padded: with follows_cuts they may differ by a sixty-fourth.
void dimension_tie_cut(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b);

// The only dimension in which two leaves of the same rank differ; -1: none, or several.
int dimension_differing(const struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b);

// What joins marked parts is marked, and each part that is cut from it again, with its own factors.
void dimension_flow_mark_joined(struct dimension_flow *flow, uint32_t part, uint32_t whole, int dimension);
void dimension_tie_part(struct dimension_flow *flow, uint32_t whole, uint32_t part, int dimension);

// Of two leaves of the same rank, the only dimension in which they differ, by a whole number of parts.
void dimension_tie_joined(struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b);

// Each dimension of two leaves that have the same dimensions.
void dimension_tie_all(struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b);

// The leaf's shape with each marked dimension divided by `ways`, twice where what is marked stands twice, rounded up.
struct array_shape dimension_flow_divided(const struct dimension_flow *flow, uint32_t leaf, int64_t ways);

static inline const struct array_shape *flow_leaf(const struct dimension_flow *flow, uint32_t leaf) {
    return &flow->graph->leaves[leaf];
}

// Numbers of dimensions may be any, as files have them; what is no array has none.
static inline bool flow_has_dimension(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return array_is(flow_leaf(flow, leaf)) && dimension < flow_leaf(flow, leaf)->rank;
}

static inline bool flow_is_marked(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return flow_has_dimension(flow, leaf, dimension) && (flow->marks[leaf] >> dimension & 1);
}

// The only array of an operand; HLO_NONE when it is none or a tuple.
static inline uint32_t flow_operand_leaf(const struct dimension_flow *flow, const struct graph_node *node, uint32_t i) {
    uint32_t operand = graph_operand(flow->graph, node, i);
    if (operand == HLO_NONE || flow->graph->nodes[operand].leaf_count != 1) return HLO_NONE;
    uint32_t leaf = flow->graph->nodes[operand].first_leaf;
    return array_is(flow_leaf(flow, leaf)) ? leaf : HLO_NONE;
}
