#include "analysis/advice/sharding_rest.h"

#include "analysis/advice/dimension_flow.h"
#include "analysis/advice/sharding_parts.h"

static int64_t parts_of(const struct dimension_flow *split, uint32_t leaf) {
    int64_t parts = 1;
    if (array_is(flow_leaf(split, leaf))) sharding_parts_of(split, leaf, split->marks[leaf], &parts);
    return parts;
}

// The dimension behind another: by their numbers, or, of a bitcast, in memory. -1: it is the last.
static int dimension_behind(const struct array_shape *shape, int dimension, bool is_physical) {
    if (!is_physical) return dimension + 1 < shape->rank ? dimension + 1 : -1;
    for (int minor = 1; minor < shape->rank; minor++) {
        if (shape->minor_to_major[minor] == dimension) return shape->minor_to_major[minor - 1];
    }
    return -1;
}

// The dimension behind one of which each chip has a single part, where the other chips can share it; -1: none.
static int handed_on(const struct dimension_flow *split, uint32_t leaf, bool is_physical, int64_t *others) {
    int64_t parts;
    const struct array_shape *shape = flow_leaf(split, leaf);
    int d = sharding_parts_of(split, leaf, split->marks[leaf], &parts);
    if (d < 0 || parts < 2 || split->chips % parts) return -1;
    if (shape->dimensions[d] != parts * (int64_t)dimension_flow_start(split, leaf, d)) return -1;
    int behind = dimension_behind(shape, d, is_physical);
    *others = split->chips / parts;
    return behind >= 0 && *others > 1 && shape->dimensions[behind] % *others == 0 ? behind : -1;
}

struct beginning {
    uint32_t leaf;  // HLO_NONE: none
    int dimension;
    int64_t others;
};

static struct beginning beginning_at(const struct dimension_flow *split, const struct graph_node *node) {
    struct beginning begins = {.leaf = HLO_NONE};
    uint32_t operand = flow_operand_leaf(split, node, 0), result = node->first_leaf;
    bool is_reshape = node->opcode == OPCODE_RESHAPE || node->opcode == OPCODE_BITCAST;
    if (!is_reshape || operand == HLO_NONE || node->leaf_count != 1 || !array_is(flow_leaf(split, result)))
        return begins;
    bool is_whole_first = parts_of(split, operand) == split->chips;
    uint32_t few = is_whole_first ? result : operand, whole = is_whole_first ? operand : result;
    begins.dimension = handed_on(split, few, node->opcode == OPCODE_BITCAST, &begins.others);
    if (begins.dimension >= 0 && parts_of(split, whole) == split->chips) begins.leaf = few;
    return begins;
}

static int64_t find_others(const struct dimension_flow *split) {
    for (uint32_t i = 0; i < split->graph->node_count; i++) {
        struct beginning begins = beginning_at(split, &split->graph->nodes[i]);
        if (begins.leaf != HLO_NONE) return begins.others;
    }
    return 0;
}

bool sharding_rest_find(const struct dimension_flow *split, struct arena *arena, struct dimension_flow *rest) {
    const struct program_graph *graph = split->graph;
    if (!dimension_flow_init(rest, graph, arena)) return false;
    rest->ties_parts = split->ties_parts;
    rest->chips = find_others(split);
    for (uint32_t leaf = 0; rest->chips && leaf < graph->leaf_count; leaf++) {
        bool is_left = !split->is_blocked[leaf] && parts_of(split, leaf) * rest->chips == split->chips;
        rest->is_blocked[leaf] = !is_left;
    }
    for (uint32_t i = 0; rest->chips && i < graph->node_count; i++) {
        struct beginning begins = beginning_at(split, &graph->nodes[i]);
        if (begins.leaf != HLO_NONE) dimension_flow_mark(rest, begins.leaf, begins.dimension);
    }
    if (rest->chips) dimension_flow_run(rest);
    return true;
}
