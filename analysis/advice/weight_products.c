#include "analysis/advice/weight_products.h"

#include <math.h>

#include "analysis/advice/dimension_ties.h"
#include "analysis/program/library_call.h"

static const struct bytes LOOP = BYTES("while/body");

static bool follows_batch(const struct advisor *advisor, uint32_t leaf) {
    return leaf != HLO_NONE && advisor->batch.marks[leaf];
}

static bool is_fused(const struct advisor *advisor, const struct graph_node *node, bool is_in_loop) {
    return node->opcode == OPCODE_DOT && !is_in_loop && node->computation != advisor->graph.entry;
}

// ".../jvp()/while/body/dot_general": the loop is inside of what is differentiated.
static bool is_repeated(const struct advisor *advisor, struct bytes op_name) {
    size_t from = advisor->roles.is_training ? bytes_find(op_name, BYTES("jvp(")) : 0;
    return from < op_name.size && bytes_contains((struct bytes){op_name.data + from, op_name.size - from}, LOOP);
}

static bool is_of_forward_pass(const struct advisor *advisor, const struct graph_node *node) {
    return !advisor->roles.is_training || op_name_phase(node->op_name) == PHASE_FORWARD;
}

// XLA:GPU sums long products in parts, [8,4,384] . [4,384,4096]: four parts of 1536, and no batch.
static bool is_summed_in_parts(const struct dot_numbers *n) {
    return n->batch_count == 1 && n->contracted_count == 1 && n->contracted_left[0] == n->batch_left[0] + 1 &&
           n->contracted_right[0] == n->batch_right[0] + 1;
}

static uint8_t batch_of(const struct graph_node *node, bool is_left) {
    struct dot_numbers n;
    if (!dot_numbers_of(node, &n) || is_summed_in_parts(&n)) return 0;
    return (uint8_t)dimension_bits(is_left ? n.batch_left : n.batch_right, n.batch_count);
}

bool weight_product_read(const struct advisor *advisor, uint32_t index, struct weight_product *product) {
    const struct graph_node *node = &advisor->graph.nodes[index];
    if (!library_call_is_product(node) || !node->leaf_count || !is_of_forward_pass(advisor, node)) return false;
    if (!bytes_equal(op_name_primitive(node->op_name), BYTES("dot_general"))) return false;
    uint32_t left = flow_operand_leaf(&advisor->batch, node, 0), right = flow_operand_leaf(&advisor->batch, node, 1);
    bool is_left = follows_batch(advisor, left);
    if (!advisor->batch.marks[node->first_leaf] || is_left == follows_batch(advisor, right)) return false;
    bool is_in_loop = bytes_contains(node->op_name, LOOP);
    *product = (struct weight_product){.weight = is_left ? right : left,
                                       .activation = is_left ? left : right,
                                       .result = node->first_leaf,
                                       .weight_batch = batch_of(node, !is_left),
                                       .is_in_loop = is_in_loop,
                                       .is_repeated = is_repeated(advisor, node->op_name),
                                       .is_fused = is_fused(advisor, node, is_in_loop)};
    return true;
}

bool weight_product_is_summed(const struct advisor *advisor, const struct dimension_flow *split, uint32_t index,
                              struct weight_product *product) {
    if (!weight_product_read(advisor, index, product) || product->weight == HLO_NONE) return false;
    uint8_t of_activation = split->marks[product->activation];
    return of_activation && !(of_activation & advisor->batch.marks[product->activation]) &&
           dimension_ties_is_summed_in_parts(split, &advisor->graph.nodes[index]);
}

double weight_product_bytes(const struct advisor *advisor, const struct weight_product *product) {
    const struct array_shape *result = &advisor->graph.leaves[product->result];
    bool is_rounded = type_flow_is_rounded(&advisor->types, &advisor->graph, product->activation);
    int bits = is_rounded ? result->element_bits : advisor->graph.leaves[product->activation].element_bits;
    if (result->element_bits < bits) bits = result->element_bits;
    return (double)array_shape_elements(result) * bits / 8;
}

// Of a product of rows x columns with columns x others.
double weight_product_rows(const struct advisor *advisor, const struct weight_product *product) {
    const struct array_shape *leaves = advisor->graph.leaves;
    double weight = product->weight == HLO_NONE ? 0 : (double)array_shape_elements(&leaves[product->weight]);
    double both = (double)array_shape_elements(&leaves[product->activation]) *
                  (double)array_shape_elements(&leaves[product->result]);
    return weight > 0 && both > 0 ? sqrt(both / weight) : 0;
}
