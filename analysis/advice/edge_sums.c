#include "analysis/advice/edge_sums.h"

static int64_t sum_bytes(const struct advisor *advisor, const struct graph_node *node) {
    if (node->opcode != OPCODE_SCATTER || node->leaf_count != 1) return 0;
    if (!advisor->batch.marks[node->first_leaf]) return 0;
    return array_shape_bytes(&advisor->graph.leaves[node->first_leaf]);
}

int64_t edge_sums_bytes(const struct advisor *advisor) {
    enum { AT_ONCE = 2 };
    int64_t most = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        int64_t bytes = sum_bytes(advisor, &advisor->graph.nodes[i]);
        if (bytes > most) most = bytes;
    }
    return what_if_bytes(AT_ONCE * (double)most * (1 - 1.0 / (double)advisor->request.ways));
}
