#include "analysis/advice/fills.h"

#include "analysis/program/leaf_links.h"

static void hand_on(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    uint8_t *fills = context;
    for (uint32_t i = 0; i < count; i++) fills[first_to + i] |= fills[first_from + i];
}

static bool is_of_one_value(const struct program_graph *graph, const struct graph_node *node) {
    uint32_t operand = node->opcode == OPCODE_BROADCAST ? graph_operand(graph, node, 0) : HLO_NONE;
    if (operand == HLO_NONE || graph->nodes[operand].leaf_count != 1 || node->leaf_count != 1) return false;
    const struct array_shape *value = &graph->leaves[graph->nodes[operand].first_leaf];
    return array_is(value) && value->rank == 0;
}

// A loop changes what it is given, and so may a branch.
static bool hands_on_as_it_is(const struct graph_node *node) {
    return node->opcode == OPCODE_FUSION || node->opcode == OPCODE_TUPLE || node->opcode == OPCODE_GET_TUPLE_ELEMENT;
}

uint8_t *fills_find(const struct program_graph *graph, struct arena *arena) {
    enum { PASSES = 3 };  // operands and bodies stand in front, in all but a few programs: no more than that is asked
    uint8_t *fills = arena_new(arena, uint8_t, graph->leaf_count + 1u);
    for (uint32_t i = 0; fills && i < graph->node_count; i++) {
        if (is_of_one_value(graph, &graph->nodes[i])) fills[graph->nodes[i].first_leaf] = 1;
    }
    for (uint32_t i = 0; fills && i < PASSES * graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i % graph->node_count];
        if (hands_on_as_it_is(node)) leaf_links_visit(graph, i % graph->node_count, hand_on, fills);
    }
    return fills;
}
