#include "analysis/advice/sharding_rest.h"

#include "analysis/advice/dimension_flow.h"
#include "analysis/advice/sharding_split.h"

static int64_t parts_of(const struct dimension_flow *split, uint32_t leaf) {
    int64_t parts = 1;
    if (array_is(flow_leaf(split, leaf))) sharding_split_of(split, leaf, split->marks[leaf], &parts);
    return parts;
}

// The first dimension is the most major: then what is behind one in memory is the next.
static bool is_in_order(const struct array_shape *shape) {
    for (int d = 0; d < shape->rank; d++) {
        if (shape->minor_to_major[d] != shape->rank - 1 - d) return false;
    }
    return true;
}

// The dimension behind one of which each chip has a single part, where the other chips can share it; -1: none.
static int handed_on(const struct dimension_flow *split, uint32_t leaf, int64_t *others) {
    int64_t parts;
    const struct array_shape *shape = flow_leaf(split, leaf);
    int d = sharding_split_of(split, leaf, split->marks[leaf], &parts);
    if (d < 0 || d + 1 >= shape->rank || parts < 2 || split->chips % parts) return -1;
    if (shape->dimensions[d] != parts * (int64_t)dimension_flow_start(split, leaf, d)) return -1;
    *others = split->chips / parts;
    return *others > 1 && shape->dimensions[d + 1] % *others == 0 ? d + 1 : -1;
}

static void begin_at(const struct dimension_flow *split, const struct graph_node *node, struct dimension_flow *rest) {
    uint32_t operand = flow_operand_leaf(split, node, 0), result = node->first_leaf;
    bool is_reshape = node->opcode == OPCODE_RESHAPE || node->opcode == OPCODE_BITCAST;
    if (!is_reshape || operand == HLO_NONE || node->leaf_count != 1 || !array_is(flow_leaf(split, result))) return;
    if (!is_in_order(flow_leaf(split, operand)) || !is_in_order(flow_leaf(split, result))) return;
    bool is_whole_first = parts_of(split, operand) == split->chips;
    uint32_t few = is_whole_first ? result : operand, whole = is_whole_first ? operand : result;
    int64_t others;
    int d = handed_on(split, few, &others);
    if (d < 0 || parts_of(split, whole) != split->chips || (rest->chips && rest->chips != others)) return;
    rest->chips = others;
    dimension_flow_mark(rest, few, d);
}

bool sharding_rest_find(const struct dimension_flow *split, struct arena *arena, struct dimension_flow *rest) {
    const struct program_graph *graph = split->graph;
    if (!dimension_flow_init(rest, graph, arena)) return false;
    rest->ties_parts = split->ties_parts;
    for (uint32_t leaf = 0; leaf < graph->leaf_count; leaf++) {
        int64_t parts = split->is_blocked[leaf] ? 1 : parts_of(split, leaf);
        rest->is_blocked[leaf] = parts == 1 || parts == split->chips;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) begin_at(split, &graph->nodes[i], rest);
    if (rest->chips) dimension_flow_run(rest);
    return true;
}
