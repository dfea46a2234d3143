#include "analysis/advice/fetched.h"

#include "analysis/program/library_call.h"

bool fetched_goes_on(const struct graph_node *node) {
    static const uint32_t opcodes = 1u << OPCODE_ASYNC_DONE | 1u << OPCODE_ASYNC_START | 1u << OPCODE_RESIZING |
                                    1u << OPCODE_DYNAMIC_SLICE | 1u << OPCODE_COPY_DONE | 1u << OPCODE_COPY_START |
                                    1u << OPCODE_BITCAST;
    return opcodes >> node->opcode & 1;
}

uint32_t fetched_from(const struct program_graph *graph, const struct graph_node *node) {
    if (node->leaf_count != 1 || library_call_of(node) != LIBRARY_NONE) return HLO_NONE;
    uint32_t from = graph_operand(graph, node, 0);
    for (int i = 0; i < FETCHED_CHAIN_MAX && from != HLO_NONE; i++) {
        const struct graph_node *above = &graph->nodes[from];
        const struct array_shape *shape = &graph->leaves[above->first_leaf];
        bool is_whole = above->leaf_count == 1 && array_same_dimensions(shape, &graph->leaves[node->first_leaf]);
        if (is_whole) return above->first_leaf;
        from = fetched_goes_on(above) ? graph_operand(graph, above, 0) : HLO_NONE;
    }
    return HLO_NONE;
}
