#include "analysis/advice/weight_products.h"

#include <math.h>

#include "analysis/advice/dimension_ties.h"
#include "analysis/program/callers.h"
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

struct operands {  // leaves
    uint32_t left, right;
};

static double elements_of(const struct advisor *advisor, uint32_t leaf) {
    return leaf == HLO_NONE ? 0 : (double)array_shape_elements(&advisor->graph.leaves[leaf]);
}

static int rank_beside_ones(const struct array_shape *shape) {
    int rank = 0;
    for (int d = 0; d < shape->rank; d++) rank += shape->dimensions[d] != 1;
    return rank;
}

// Is it of the rank that it has where it comes from? Experts are, one of two stacks of blocks, [1,8,96,96], is; a row
// that was cut into parts is not.
static bool is_as_given(const struct advisor *advisor, uint32_t leaf) {
    const struct array_shape *leaves = advisor->graph.leaves;
    return leaf != HLO_NONE &&
           rank_beside_ones(&leaves[weight_product_source(advisor, leaf)]) == rank_beside_ones(&leaves[leaf]);
}

// XLA:GPU sums long products in parts, [8,4,384] . [4,384,4096]: four parts of 1536, and no batch. What makes more than
// it reads is no long one: heads, [8192,12,64] . [512,12,64].
static bool is_summed_in_parts(const struct advisor *advisor, const struct graph_node *node, struct operands of,
                               const struct dot_numbers *n) {
    bool are_beside = n->batch_count == 1 && n->contracted_count == 1 &&
                      n->contracted_left[0] == n->batch_left[0] + 1 && n->contracted_right[0] == n->batch_right[0] + 1;
    return are_beside &&
           elements_of(advisor, node->first_leaf) < elements_of(advisor, of.left) + elements_of(advisor, of.right);
}

static uint8_t batch_of(const struct advisor *advisor, const struct graph_node *node, struct operands of,
                        bool is_left) {
    struct dot_numbers n;
    if (!dot_numbers_of(node, &n)) return 0;
    bool is_cut = !is_as_given(advisor, is_left ? of.left : of.right);
    if (is_cut && is_summed_in_parts(advisor, node, of, &n)) return 0;
    return (uint8_t)dimension_bits(is_left ? n.batch_left : n.batch_right, n.batch_count);
}

// A product of the forward pass that the user wrote.
static bool users_product_read(const struct advisor *advisor, const struct graph_node *node, struct operands *of) {
    if (!library_call_is_product(node) || !node->leaf_count || !is_of_forward_pass(advisor, node)) return false;
    *of = (struct operands){flow_operand_leaf(&advisor->batch, node, 0), flow_operand_leaf(&advisor->batch, node, 1)};
    return bytes_equal(op_name_primitive(node->op_name), BYTES("dot_general"));
}

bool weight_product_read(const struct advisor *advisor, uint32_t index, struct weight_product *product) {
    const struct graph_node *node = &advisor->graph.nodes[index];
    struct operands of;
    if (!users_product_read(advisor, node, &of)) return false;
    bool is_left = follows_batch(advisor, of.left);
    if (!advisor->batch.marks[node->first_leaf] || is_left == follows_batch(advisor, of.right)) return false;
    bool is_in_loop = bytes_contains(node->op_name, LOOP);
    *product = (struct weight_product){.weight = is_left ? of.right : of.left,
                                       .activation = is_left ? of.left : of.right,
                                       .result = node->first_leaf,
                                       .weight_batch = batch_of(advisor, node, of, !is_left),
                                       .is_in_loop = is_in_loop,
                                       .is_repeated = is_repeated(advisor, node->op_name),
                                       .is_fused = is_fused(advisor, node, is_in_loop)};
    return true;
}

double unbatched_product_bytes(const struct advisor *advisor, uint32_t index) {
    const struct graph_node *node = &advisor->graph.nodes[index];
    struct operands of;
    struct dot_numbers n;
    if (!users_product_read(advisor, node, &of) || of.left == HLO_NONE || of.right == HLO_NONE) return 0;
    if (!is_repeated(advisor, node->op_name)) return 0;
    bool is_of_data = follows_batch(advisor, node->first_leaf) || follows_batch(advisor, of.left) ||
                      follows_batch(advisor, of.right);
    bool has_batch = dot_numbers_of(node, &n) && n.batch_count && !is_summed_in_parts(advisor, node, of, &n);
    int64_t bytes = array_shape_bytes(&advisor->graph.leaves[node->first_leaf]);
    return is_of_data || has_batch || bytes < 0 ? 0 : (double)bytes;
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

// What a node's array is a copy of: outside of the fusion, before a cast. A slice is none. HLO_NONE: it is no copy.
static uint32_t copied_leaf(const struct advisor *advisor, uint32_t leaf) {
    const struct program_graph *graph = &advisor->graph;
    const struct graph_node *node = &graph->nodes[graph->node_of_leaf[leaf]];
    uint32_t outer = advisor->caller[node->computation], from = HLO_NONE;
    if (node->opcode == OPCODE_PARAMETER && outer != HLO_NONE && node_stands_for_body(&graph->nodes[outer]))
        from = graph_operand(graph, &graph->nodes[outer], (uint32_t)node->number);
    else if (node->operand_count == 1 && node->leaf_count == 1 && node->opcode != OPCODE_GET_TUPLE_ELEMENT)
        from = graph_operand(graph, node, 0);
    if (from == HLO_NONE || !graph->nodes[from].leaf_count) return HLO_NONE;
    uint32_t source = graph->nodes[from].first_leaf;
    bool is_whole = array_shape_elements(&graph->leaves[source]) == array_shape_elements(&graph->leaves[leaf]);
    return is_whole ? source : HLO_NONE;
}

uint32_t weight_product_source(const struct advisor *advisor, uint32_t leaf) {
    enum { STEPS_MAX = 32 };
    uint32_t from = copied_leaf(advisor, leaf);
    for (int i = 0; i < STEPS_MAX && from != HLO_NONE; i++) {
        leaf = from;
        from = copied_leaf(advisor, leaf);
    }
    return leaf;
}
