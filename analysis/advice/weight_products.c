#include "analysis/advice/weight_products.h"

#include "analysis/program/library_call.h"

static bool follows_batch(const struct advisor *advisor, uint32_t leaf) {
    return leaf != HLO_NONE && advisor->batch.marks[leaf];
}

static bool is_fused(const struct advisor *advisor, const struct graph_node *node, bool is_in_loop) {
    return node->opcode == OPCODE_DOT && !is_in_loop && node->computation != advisor->graph.entry;
}

static bool is_of_forward_pass(const struct advisor *advisor, const struct graph_node *node) {
    return !advisor->roles.is_training || op_name_phase(node->op_name) == PHASE_FORWARD;
}

bool weight_product_read(const struct advisor *advisor, uint32_t index, struct weight_product *product) {
    const struct graph_node *node = &advisor->graph.nodes[index];
    if (!library_call_is_product(node) || !node->leaf_count || !is_of_forward_pass(advisor, node)) return false;
    if (!bytes_equal(op_name_primitive(node->op_name), BYTES("dot_general"))) return false;
    uint32_t left = flow_operand_leaf(&advisor->batch, node, 0), right = flow_operand_leaf(&advisor->batch, node, 1);
    bool is_left = follows_batch(advisor, left);
    if (!advisor->batch.marks[node->first_leaf] || is_left == follows_batch(advisor, right)) return false;
    bool is_in_loop = bytes_contains(node->op_name, BYTES("while/body"));
    *product = (struct weight_product){.weight = is_left ? right : left,
                                       .activation = is_left ? left : right,
                                       .result = node->first_leaf,
                                       .is_in_loop = is_in_loop,
                                       .is_fused = is_fused(advisor, node, is_in_loop)};
    return true;
}

double weight_product_bytes(const struct advisor *advisor, const struct weight_product *product) {
    const struct array_shape *result = &advisor->graph.leaves[product->result];
    int bits = advisor->graph.leaves[product->activation].element_bits;
    if (result->element_bits < bits) bits = result->element_bits;
    return (double)array_shape_elements(result) * bits / 8;
}
