#include "analysis/program/callers.h"

bool node_is_loop_or_branch(const struct graph_node *node) {
    return node->opcode == OPCODE_WHILE || node->opcode == OPCODE_CONDITIONAL;
}

bool node_stands_for_body(const struct graph_node *node) {
    return node->opcode == OPCODE_FUSION || node->opcode == OPCODE_CALL || node->opcode == OPCODE_ASYNC_START;
}

bool node_hands_on(const struct graph_node *node) {
    return node_stands_for_body(node) || node->opcode == OPCODE_TUPLE || node->opcode == OPCODE_GET_TUPLE_ELEMENT ||
           node->opcode == OPCODE_ASYNC_DONE;
}

static void note_called(const struct program_graph *graph, uint32_t index, uint32_t *caller) {
    const struct graph_node *node = &graph->nodes[index];
    if (!node_is_loop_or_branch(node) && !node_hands_on(node)) return;
    for (uint32_t k = 0; k < node->called_count; k++) {
        uint32_t called = graph->called[node->first_called + k];
        if (called < graph->computation_count && caller[called] == HLO_NONE) caller[called] = index;
    }
}

uint32_t *callers_find(const struct program_graph *graph, struct arena *arena) {
    uint32_t *caller = arena_new(arena, uint32_t, graph->computation_count);
    if (!caller) return NULL;
    memset(caller, 0xff, graph->computation_count * sizeof *caller);
    for (uint32_t i = 0; i < graph->node_count; i++) note_called(graph, i, caller);
    return caller;
}

uint32_t callers_scheduled(const struct program_graph *graph, const uint32_t *caller, uint32_t index) {
    enum { DEPTH_MAX = 32 };
    for (int i = 0; i < DEPTH_MAX; i++) {
        uint32_t outer = caller[graph->nodes[index].computation];
        if (outer == HLO_NONE || !node_stands_for_body(&graph->nodes[outer])) break;
        index = outer;
    }
    return index;
}
