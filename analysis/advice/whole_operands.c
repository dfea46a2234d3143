#include "analysis/advice/whole_operands.h"

static bool is_gathering(const struct advisor *advisor, const struct dimension_flow *split, uint32_t index,
                         struct weight_product *product) {
    if (!advisor->is_for_gpu || !advisor->roles.is_training) return false;
    if (!weight_product_read(advisor, index, product) || product->weight == HLO_NONE) return false;
    if (product->is_in_loop || product->weight_batch) return false;
    uint8_t of_activation = split->marks[product->activation];
    bool is_in_columns = of_activation && !(of_activation & advisor->batch.marks[product->activation]);
    struct weight_product summed;
    return is_in_columns && split->marks[product->weight] && !weight_product_is_summed(advisor, split, index, &summed);
}

// The leaf of the fusion of several results that a leaf is one of, or the leaf itself.
static uint32_t made_leaf(const struct advisor *advisor, uint32_t leaf) {
    const struct graph_node *node = &advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]];
    uint32_t of = node->opcode == OPCODE_GET_TUPLE_ELEMENT ? graph_operand(&advisor->graph, node, 0) : HLO_NONE;
    if (of == HLO_NONE || node->number < 0) return leaf;
    const struct graph_node *tuple = &advisor->graph.nodes[of];
    bool is_flat = tuple->elements.count == tuple->leaf_count && node->number < tuple->leaf_count;
    return is_flat ? tuple->first_leaf + (uint32_t)node->number : leaf;
}

const uint8_t *whole_operands_find(const struct advisor *advisor, const struct dimension_flow *split) {
    uint8_t *leaves = arena_new(advisor->arena, uint8_t, advisor->graph.leaf_count + 1u);
    struct weight_product product;
    for (uint32_t i = 0; leaves && i < advisor->graph.node_count; i++) {
        if (!is_gathering(advisor, split, i, &product)) continue;
        uint32_t source = weight_product_source(advisor, product.activation);
        leaves[product.activation] = leaves[source] = leaves[made_leaf(advisor, source)] = 1;
    }
    return leaves;
}
