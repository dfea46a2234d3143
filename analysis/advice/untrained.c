#include "analysis/advice/untrained.h"

#include "analysis/advice/weight_products.h"
#include "analysis/program/leaf_links.h"

struct reach {
    const struct program_graph *graph;
    bool *leaves, *nodes;  // a node: any of its leaves
    bool has_grown;
};

static void reach_leaf(struct reach *reach, uint32_t leaf, bool is_reached) {
    if (!is_reached || reach->leaves[leaf]) return;
    reach->leaves[leaf] = true;
    reach->nodes[reach->graph->node_of_leaf[leaf]] = true;
    reach->has_grown = true;
}

static void hand_on(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct reach *reach = context;
    for (uint32_t i = 0; i < count; i++) reach_leaf(reach, first_to + i, reach->leaves[first_from + i]);
}

// Of what an operation computes, all that it reads has a part in all.
static void reach_from_operands(struct reach *reach, const struct graph_node *node) {
    bool is_reached = false;
    for (uint32_t i = 0; i < node->operand_count && !is_reached; i++) {
        uint32_t operand = graph_operand(reach->graph, node, i);
        is_reached = operand != HLO_NONE && reach->nodes[operand];
    }
    for (uint32_t l = 0; l < node->leaf_count; l++) reach_leaf(reach, node->first_leaf + l, is_reached);
}

static void reach_all(struct reach *reach) {
    enum { PASSES_MAX = 16 };  // each follows what loops hand back once more
    reach->has_grown = true;
    for (int pass = 0; pass < PASSES_MAX && reach->has_grown; pass++) {
        reach->has_grown = false;
        for (uint32_t i = 0; i < reach->graph->walk.count; i++) {
            uint32_t index = reach->graph->walk.nodes[i];
            if (!leaf_links_visit(reach->graph, index, hand_on, reach))
                reach_from_operands(reach, &reach->graph->nodes[index]);
        }
    }
}

static void begin_with_trained(const struct advisor *advisor, struct reach *reach) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        const struct entry_input *input = &advisor->roles.inputs[i];
        bool is_trained = advisor_is_weight(advisor, i) && !input->is_frozen;
        if (is_trained) reach_leaf(reach, input->leaf, true);
    }
}

// A weight that is read in a trained product as well is the trained one's.
static void find_products(const struct advisor *advisor, const bool *reached, bool *products, bool *weights,
                          bool *elsewhere) {
    struct weight_product product;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        if (!weight_product_read(advisor, i, &product) || product.weight == HLO_NONE) continue;
        products[i] = !reached[product.activation] && !reached[product.weight];
        (products[i] ? weights : elsewhere)[weight_product_source(advisor, product.weight)] = true;
    }
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count; leaf++) weights[leaf] &= !elsewhere[leaf];
}

bool untrained_find(struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    struct reach reach = {.graph = graph,
                          .leaves = arena_new(advisor->arena, bool, graph->leaf_count + 1u),
                          .nodes = arena_new(advisor->arena, bool, graph->node_count + 1u)};
    bool *products = arena_new(advisor->arena, bool, graph->node_count + 1u);
    bool *weights = arena_new(advisor->arena, bool, graph->leaf_count + 1u);
    bool *elsewhere = arena_new(advisor->arena, bool, graph->leaf_count + 1u);
    if (!reach.leaves || !reach.nodes || !products || !weights || !elsewhere) return false;
    advisor->untrained_products = products;
    advisor->untrained_weights = weights;
    if (!advisor->roles.is_training) return true;
    begin_with_trained(advisor, &reach);
    reach_all(&reach);
    find_products(advisor, reach.leaves, products, weights, elsewhere);
    return true;
}
