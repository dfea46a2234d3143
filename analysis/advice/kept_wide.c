#include "analysis/advice/kept_wide.h"

#include "analysis/advice/element_counts.h"
#include "analysis/hlo/element_type.h"
#include "analysis/program/op_name.h"

enum { SCORES_RANK = 4 };

static bool is_f32(const struct advisor *advisor, uint32_t leaf) {
    return advisor->graph.leaves[leaf].element_type == ELEMENT_TYPE_F32;
}

static bool is_named(const struct graph_node *node, struct bytes primitive) {
    return bytes_equal(op_name_primitive(node->op_name), primitive);
}

// A sigmoid's is of what was negated: 1 / (1 + exp(-x)), in whatever type x has.
static bool is_of_sigmoid(const struct program_graph *graph, uint32_t node) {
    uint32_t operand = graph_operand(graph, &graph->nodes[node], 0);
    return operand != HLO_NONE && is_named(&graph->nodes[operand], BYTES("neg"));
}

// jax.nn's functions of one array keep its type: the gradient of softplus is exp(x - softplus(x)), without a sigmoid.
static bool is_of_activation(const struct graph_node *node) {
    static const char *const names[] = {"jit(softplus)", "jit(log_sigmoid)", "jit(elu)", "jit(selu)",
                                        "jit(celu)",     "jit(mish)",        "jit(silu)"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (bytes_contains(node->op_name, bytes_of(names[i]))) return true;
    }
    return false;
}

// jax.nn.dot_product_attention, which flax's nnx calls too, asks for float32 of its own product and softmax. The
// product's labels are in its name (jax/_src/nn/functions.py, _dot_product_attention_core: preferred_element_type).
static bool is_of_jax_attention(const struct graph_node *node) {
    return bytes_contains(node->op_name, BYTES("BTNH,BSNH->BNTS"));
}

// --- Attention's scores ---

static bool is_between_activations(const struct advisor *advisor, const struct graph_node *node) {
    bool is_product = node->opcode != OPCODE_FUSION && node->operand_count > 1 && is_named(node, BYTES("dot_general"));
    for (uint32_t i = 0; i < 2 && is_product; i++) {
        uint32_t operand = flow_operand_leaf(&advisor->batch, node, i);
        is_product = operand != HLO_NONE && advisor->batch.marks[operand];
    }
    return is_product && !is_of_jax_attention(node);
}

// What products of activations alone make.
static struct element_counts find_scores(const struct advisor *advisor) {
    struct element_counts found = {.count = 0};
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        if (node->leaf_count && is_between_activations(advisor, node))
            element_counts_add(&found, &advisor->graph.leaves[node->first_leaf]);
    }
    return found;
}

// A softmax over scores has the type of queries and keys, where nobody asks for another: of 16 steps in float32 that
// were compiled in bfloat16 too, 11 had it so. One that is in bfloat16 already has in float32 what it asked for. A
// contrastive loss [examples, examples] is of two activations too, and stays.
static bool is_of_scores(const struct element_counts *scores, const struct array_shape *shape) {
    return shape->rank > 2 && element_counts_has(scores, shape);
}

struct shape_set kept_wide_find(const struct advisor *advisor) {
    struct element_counts scores = {.count = 0};
    struct shape_set found = {.count = 0};
    uint32_t asked = HLO_NONE;
    if (advisor->roles.is_graph) return found;  // what comes to a node is weighed in the type that it comes in
    if (!advisor_computes_in_bf16(advisor)) scores = find_scores(advisor);
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count && found.count < SHAPE_SET_MAX; leaf++) {
        const struct array_shape *shape = &advisor->graph.leaves[leaf];
        uint32_t node = advisor->graph.node_of_leaf[leaf];
        bool is_wide = array_is(shape) && is_f32(advisor, leaf) && advisor->batch.marks[leaf];
        if (is_wide && node != asked && is_of_jax_attention(&advisor->graph.nodes[node])) shape_set_add(&found, shape);
        if (is_wide) asked = node;
        bool is_exp = is_wide && is_named(&advisor->graph.nodes[node], BYTES("exp"));
        if (!is_exp || shape_set_has(&found, shape) || is_of_sigmoid(&advisor->graph, node)) continue;
        if (is_of_activation(&advisor->graph.nodes[node]) || is_of_scores(&scores, shape)) continue;
        shape_set_add(&found, shape);
    }
    return found;
}

bool kept_wide_is_of_scores(const struct advisor *advisor, uint32_t leaf) {
    const struct graph_node *node = &advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]];
    if (advisor->graph.leaves[leaf].rank < SCORES_RANK || !is_named(node, BYTES("dot_general"))) return false;
    return !is_of_jax_attention(node);
}

// The instruction itself, not a fusion or a copy that is named for it.
static bool is_plain_exponential(const struct graph_node *node) {
    return node->opcode == OPCODE_OTHER && is_named(node, BYTES("exp")) &&
           !bytes_contains(node->op_name, BYTES("log_softmax"));
}

struct shape_set kept_wide_made_twice(const struct advisor *advisor, const struct shape_set *exponentials) {
    enum { PLACES = 3 };
    struct shape_set twice = {.count = 0};
    uint32_t places[SHAPE_SET_MAX] = {0};
    if (!advisor->roles.is_training || advisor_computes_in_bf16(advisor)) return twice;
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count; leaf++) {
        const struct array_shape *shape = &advisor->graph.leaves[leaf];
        uint32_t node = advisor->graph.node_of_leaf[leaf];
        if (!is_f32(advisor, leaf) || shape->rank >= SCORES_RANK || !shape_set_has(exponentials, shape)) continue;
        if (!is_plain_exponential(&advisor->graph.nodes[node])) continue;
        for (size_t k = 0; k < exponentials->count; k++) {
            if (array_same_dimensions(exponentials->shapes[k], shape) && ++places[k] == PLACES)
                shape_set_add(&twice, shape);
        }
    }
    return twice;
}

bool kept_wide_is_made_twice(const struct advisor *advisor, uint32_t leaf, const struct shape_set *twice) {
    return advisor->batch.marks[leaf] && is_f32(advisor, leaf) && shape_set_has(twice, &advisor->graph.leaves[leaf]) &&
           is_named(&advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]], BYTES("dot_general"));
}
