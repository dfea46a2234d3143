#include "analysis/advice/joined.h"

static bool is_resized(const struct array_shape *from, const struct array_shape *to, int dimension) {
    return from->dimensions[dimension] != to->dimensions[dimension];
}

// Are two leaves of the same rank of another size in a dimension that is split in either?
static bool is_along_split(const struct program_graph *graph, const struct dimension_flow *split, uint32_t a,
                           uint32_t b) {
    const struct array_shape *from = &graph->leaves[a], *to = &graph->leaves[b];
    unsigned marks = split->marks[a] | split->marks[b];
    for (int d = 0; d < from->rank && from->rank == to->rank; d++) {
        if ((marks >> d & 1) && is_resized(from, to, d)) return true;
    }
    return false;
}

static int64_t smaller_bytes(const struct program_graph *graph, uint32_t a, uint32_t b) {
    int64_t from = array_shape_bytes(&graph->leaves[a]), to = array_shape_bytes(&graph->leaves[b]);
    return from < to ? from : to;
}

int64_t joined_most_bytes(const struct program_graph *graph, const struct dimension_flow *split) {
    int64_t most = 0;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        bool is_users = node->opcode == OPCODE_RESIZING && node->leaf_count == 1 && node->op_name.size > 0;
        for (uint32_t k = 0; is_users && k < node->operand_count; k++) {
            uint32_t part = flow_operand_leaf(split, node, k), leaf = node->first_leaf;
            if (part == HLO_NONE || !is_along_split(graph, split, part, leaf)) continue;
            int64_t bytes = smaller_bytes(graph, part, leaf);
            if (bytes > most) most = bytes;
        }
    }
    return most;
}
