#include "analysis/advice/unpacked.h"

enum made_of { MADE_OF_DATA, MADE_OF_CONSTANTS, MADE_OF_PACKED };

static enum made_of of_parameter(const struct advisor *advisor, const struct graph_node *node) {
    if (node->number < 0 || node->number >= advisor->roles.input_count) return MADE_OF_DATA;
    const struct entry_input *in = &advisor->roles.inputs[node->number];
    if (in->is_packed) return MADE_OF_PACKED;
    return in->is_frozen ? MADE_OF_CONSTANTS : MADE_OF_DATA;
}

static enum made_of of_operands(const struct advisor *advisor, const struct graph_node *node, const uint8_t *made) {
    enum made_of all = MADE_OF_CONSTANTS;
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(&advisor->graph, node, i);
        enum made_of one = operand == HLO_NONE ? MADE_OF_DATA : (enum made_of)made[operand];
        if (one == MADE_OF_DATA) return MADE_OF_DATA;
        if (one == MADE_OF_PACKED) all = MADE_OF_PACKED;
    }
    return all;
}

static enum made_of of_node(const struct advisor *advisor, const struct graph_node *node, const uint8_t *made) {
    return node->opcode == OPCODE_PARAMETER ? of_parameter(advisor, node) : of_operands(advisor, node, made);
}

// XLA lists what is read before what reads it.
static void find_all(const struct advisor *advisor, const struct graph_computation *entry, uint8_t *made,
                     bool *unpacked) {
    for (uint32_t i = entry->first_node; i < entry->first_node + entry->node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        enum made_of now = of_node(advisor, node, made);
        made[i] = (uint8_t)now;
        unpacked[i] = now == MADE_OF_PACKED && node->opcode != OPCODE_PARAMETER;
    }
}

bool *unpacked_find(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    bool *unpacked = arena_new(advisor->arena, bool, graph->node_count);
    uint8_t *made = arena_new(advisor->arena, uint8_t, graph->node_count);
    if (!unpacked || !made) return NULL;
    if (graph->entry != HLO_NONE) find_all(advisor, &graph->computations[graph->entry], made, unpacked);
    return unpacked;
}
