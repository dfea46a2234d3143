#include "analysis/advice/first_reading.h"

// Of which other leaf a node's only one is another name; HLO_NONE: of none.
static uint32_t named_by(const struct program_graph *graph, const struct graph_node *node) {
    uint32_t operand = graph_operand(graph, node, 0);
    if (operand == HLO_NONE || node->leaf_count != 1) return HLO_NONE;
    const struct graph_node *named = &graph->nodes[operand];
    if (node->opcode == OPCODE_BITCAST) return named->leaf_count == 1 ? named->first_leaf : HLO_NONE;
    bool is_part = node->opcode == OPCODE_GET_TUPLE_ELEMENT && node->number >= 0 &&
                   node->number < (int64_t)named->elements.count;
    return is_part ? graph->elements[named->elements.first + (uint32_t)node->number].leaf : HLO_NONE;
}

static bool is_another_name(const struct graph_node *node) {
    return node->opcode == OPCODE_BITCAST || node->opcode == OPCODE_GET_TUPLE_ELEMENT || node->opcode == OPCODE_TUPLE;
}

static void note_leaf(const struct program_graph *graph, uint32_t leaf, uint32_t time, uint32_t *first) {
    enum { NAMES_MAX = 8 };
    for (int i = 0; i < NAMES_MAX && leaf != HLO_NONE && time < first[leaf]; i++) {
        first[leaf] = time;
        leaf = named_by(graph, &graph->nodes[graph->node_of_leaf[leaf]]);
    }
}

static void note_operand(const struct program_graph *graph, uint32_t operand, uint32_t time, uint32_t *first) {
    enum { LEAVES_MAX = 16 };
    if (operand == HLO_NONE) return;
    const struct graph_node *node = &graph->nodes[operand];
    for (uint32_t i = 0; i < node->leaf_count && i < LEAVES_MAX; i++)
        note_leaf(graph, node->first_leaf + i, time, first);
}

uint32_t *first_reading_find(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    uint32_t *first = arena_push_raw(advisor->arena, graph->leaf_count, sizeof *first);
    for (uint32_t i = 0; first && i < graph->leaf_count; i++) first[i] = SCHEDULE_NEVER;
    for (uint32_t time = 0; first && time < advisor->schedule.count; time++) {
        const struct graph_node *node = &graph->nodes[advisor->schedule.order[time]];
        if (is_another_name(node)) continue;
        for (uint32_t i = 0; i < node->operand_count; i++)
            note_operand(graph, graph_operand(graph, node, i), time, first);
    }
    return first;
}
