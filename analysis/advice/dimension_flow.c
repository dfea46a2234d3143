#include "analysis/advice/dimension_flow.h"

#include "analysis/advice/dimension_ties.h"

void dimension_flow_run(struct dimension_flow *flow) {
    const struct graph_walk *walk = &flow->graph->walk;
    flow->has_changed = true;
    for (int pass = 0; pass < FLOW_PASSES_MAX && flow->has_changed; pass++) {
        flow->has_changed = false;
        for (uint32_t i = 0; i < walk->count; i++)
            dimension_ties_apply(flow, walk->nodes[pass % 2 ? walk->count - 1 - i : i]);
    }
}

bool dimension_flow_is_contracted(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        if (dimension_ties_is_contracted(flow, &flow->graph->nodes[i])) return true;
    }
    return false;
}

// Loops that the compiler makes itself, of a scatter, row after row, have none of the user's names.
static bool is_stepped(const struct dimension_flow *flow, const struct graph_node *node) {
    bool is_users = node->op_name.size > 0;
    uint32_t operand = node->opcode == OPCODE_DYNAMIC_SLICE && is_users ? flow_operand_leaf(flow, node, 0) : HLO_NONE;
    if (operand == HLO_NONE || node->leaf_count != 1 || flow->graph->computations[node->computation].is_entry)
        return false;
    const struct array_shape *from = flow_leaf(flow, operand), *to = flow_leaf(flow, node->first_leaf);
    for (int d = 0; d < from->rank && from->rank == to->rank; d++) {
        bool is_one = from->dimensions[d] > 1 && to->dimensions[d] == 1;
        if (is_one && (flow->marks[operand] >> d & 1)) return true;
    }
    return false;
}

bool dimension_flow_is_stepped(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        if (is_stepped(flow, &flow->graph->nodes[i])) return true;
    }
    return false;
}
