#include "analysis/advice/scattered_numbers.h"

#include "analysis/hlo/element_type.h"

static bool is_of_numbers(const struct advisor *advisor, const struct graph_node *node) {
    if (node->opcode != OPCODE_SCATTER || node->leaf_count != 1 || !advisor->batch.marks[node->first_leaf])
        return false;
    return advisor->graph.leaves[node->first_leaf].element_type == ELEMENT_TYPE_U32 &&
           op_name_phase(node->op_name) == PHASE_FORWARD && !bytes_contains(node->op_name, BYTES("while/body"));
}

int64_t scattered_numbers_bytes(const struct advisor *advisor) {
    double bytes = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        if (is_of_numbers(advisor, node)) bytes += (double)array_shape_bytes(&advisor->graph.leaves[node->first_leaf]);
    }
    return what_if_bytes(bytes);
}
