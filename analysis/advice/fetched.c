#include "analysis/advice/fetched.h"

uint32_t fetched_from(const struct program_graph *graph, const struct graph_node *node) {
    enum { CHAIN_MAX = 8 };
    uint32_t from = graph_operand(graph, node, 0);
    for (int i = 0; i < CHAIN_MAX && node->leaf_count == 1 && from != HLO_NONE; i++) {
        const struct array_shape *shape = &graph->leaves[graph->nodes[from].first_leaf];
        bool is_one = graph->nodes[from].leaf_count == 1;
        bool is_whole = is_one && array_same_dimensions(shape, &graph->leaves[node->first_leaf]);
        if (is_whole) return graph->nodes[from].first_leaf;
        from = graph_operand(graph, &graph->nodes[from], 0);
    }
    return HLO_NONE;
}
