#include "analysis/advice/scattered.h"

#include "analysis/advice/weight_products.h"
#include "analysis/program/callers.h"

enum { LANES = 128, SUBLANES = 16, LOOKED_AT_MAX = 256 };  // operands and results of a fusion

// With little padding: 511 places, not 196 or 49.
static bool fills_lanes(int64_t places) {
    enum { PADDING_DIVISOR = 10 };
    int64_t over = places % LANES, padding = over ? LANES - over : 0;
    return padding <= places / PADDING_DIVISOR;
}

// The last dimension, in the lanes, by 512 bytes at least; or in the sublanes, with the places before it in the lanes.
static bool fills_tiles(const struct array_shape *shape, int64_t columns) {
    const double least_bits = 512 * 8;
    if (columns % LANES == 0 && (double)columns * shape->element_bits >= least_bits) return true;
    return columns % SUBLANES == 0 && fills_lanes(shape->dimensions[shape->rank - 2]);
}

// Heads, in the middle, are in no tile; nor are those of scores, where a product puts them first. What else comes first
// is always in parts.
static bool is_scattered(const struct dimension_flow *split, uint32_t leaf) {
    enum { SCORES_RANK = 4 };
    const struct array_shape *shape = flow_leaf(split, leaf);
    int64_t parts;
    int d = sharding_parts_of(split, leaf, split->marks[leaf], &parts);
    if (d < 0 || shape->rank < 3 || (d == 0 && shape->rank < SCORES_RANK)) return true;
    return d == shape->rank - 1 && fills_tiles(shape, shape->dimensions[d] / parts);
}

// Does the fusion take another array of that shape, as a residual stream?
static bool takes_another(const struct advisor *advisor, const struct graph_node *fusion,
                          const struct array_shape *shape) {
    for (uint32_t i = 0; i < fusion->operand_count && i < LOOKED_AT_MAX; i++) {
        uint32_t leaf = flow_operand_leaf(&advisor->batch, fusion, i);
        if (leaf != HLO_NONE && array_same_dimensions(&advisor->graph.leaves[leaf], shape)) return true;
    }
    return false;
}

static void mark_results(const struct advisor *advisor, const struct graph_node *scheduled,
                         const struct array_shape *shape, uint8_t *whole) {
    if (takes_another(advisor, scheduled, shape)) return;
    for (uint32_t i = 0; i < scheduled->leaf_count && i < LOOKED_AT_MAX; i++) {
        uint32_t leaf = scheduled->first_leaf + i;
        if (array_same_dimensions(&advisor->graph.leaves[leaf], shape)) whole[leaf] = 1;
    }
}

static void mark_sums(const struct advisor *advisor, const struct dimension_flow *split, uint8_t *whole) {
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!weight_product_is_summed(advisor, split, i, &product) || product.is_in_loop) continue;
        const struct array_shape *shape = &advisor->graph.leaves[product.result];
        bool is_by_examples = dimension_flow_shared(split, &advisor->batch, product.result);
        if (is_by_examples || is_scattered(split, product.result)) continue;
        uint32_t scheduled = callers_scheduled(&advisor->graph, advisor->caller, i);
        mark_results(advisor, &advisor->graph.nodes[scheduled], shape, whole);
    }
}

// The array that an operation hands on as it is, or copies.
static uint32_t copied(const struct advisor *advisor, const struct graph_node *node) {
    const struct program_graph *graph = &advisor->graph;
    uint32_t operand = graph_operand(graph, node, 0);
    const struct graph_node *from = operand == HLO_NONE ? NULL : &graph->nodes[operand];
    if (!from || !from->leaf_count) return HLO_NONE;
    if (node->opcode == OPCODE_COPY || node->opcode == OPCODE_COPY_START || node->opcode == OPCODE_BITCAST)
        return flow_operand_leaf(&advisor->batch, node, 0);
    if (node->opcode == OPCODE_COPY_DONE) return from->first_leaf;  // (destination, source, context)
    bool is_element = node->opcode == OPCODE_GET_TUPLE_ELEMENT && node->leaf_count == 1 && node->number >= 0 &&
                      node->number < from->elements.count;
    return is_element ? graph->elements[from->elements.first + (uint32_t)node->number].leaf : HLO_NONE;
}

// What leaves fast memory until the backward pass is a copy.
static void mark_copies(const struct advisor *advisor, uint8_t *whole) {
    const struct program_graph *graph = &advisor->graph;
    for (uint32_t i = 0; i < graph->walk.count; i++) {
        const struct graph_node *node = &graph->nodes[graph->walk.nodes[i]];
        uint32_t from = copied(advisor, node);
        for (uint32_t l = 0; from != HLO_NONE && whole[from] && l < node->leaf_count && l < LOOKED_AT_MAX; l++) {
            uint32_t leaf = node->first_leaf + l;
            if (array_same_dimensions(&graph->leaves[leaf], &graph->leaves[from])) whole[leaf] = 1;
        }
    }
}

uint8_t *scattered_not(const struct advisor *advisor, const struct sharding_split *split) {
    uint8_t *whole = arena_new(advisor->arena, uint8_t, advisor->graph.leaf_count + 1u);
    if (!whole) {
        error_set(advisor->error, ERROR_TOO_BIG, "no memory left for what is summed over chips");
        return NULL;
    }
    if (advisor->is_for_tpu) mark_sums(advisor, &split->flow, whole);
    mark_copies(advisor, whole);
    return whole;
}

int64_t scattered_size(const struct advisor *advisor, uint32_t leaf, int64_t bytes) {
    bool is_rounded = type_flow_is_rounded(&advisor->types, &advisor->graph, leaf);
    return is_rounded ? what_if_bytes(2.0 * (double)bytes) : bytes;
}
