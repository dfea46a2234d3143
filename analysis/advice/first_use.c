#include "analysis/advice/first_use.h"

struct uses {
    const struct advisor *advisor;
    uint32_t *first_use;  // of each input: a time, or SCHEDULE_NEVER
    uint32_t
        *input_within;  // of each node of the entry: whose value it is under another name, cast or moved; or HLO_NONE
};

static bool is_of_batch(const struct advisor *advisor, const struct graph_node *node) {
    for (uint32_t i = 0; i < node->leaf_count; i++) {
        if (advisor->batch.marks[node->first_leaf + i]) return true;
    }
    return false;
}

static void note_uses(const struct uses *uses, uint32_t index, uint32_t time) {
    const struct program_graph *graph = &uses->advisor->graph;
    const struct graph_node *node = &graph->nodes[index];
    bool is_used = is_of_batch(uses->advisor, node);
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(graph, node, i);
        uint32_t input = operand == HLO_NONE ? HLO_NONE : uses->input_within[operand];
        if (input == HLO_NONE) continue;
        if (!is_used) uses->input_within[index] = input;
        if (is_used && time < uses->first_use[input]) uses->first_use[input] = time;
    }
}

static void begin(const struct uses *uses) {
    const struct advisor *advisor = uses->advisor;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) uses->input_within[i] = HLO_NONE;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uses->first_use[i] = SCHEDULE_NEVER;
        if (advisor->roles.inputs[i].leaf == HLO_NONE || !advisor_is_weight(advisor, i)) continue;
        uses->input_within[advisor->graph.node_of_leaf[advisor->roles.inputs[i].leaf]] = i;
    }
}

uint32_t *first_use_find(const struct advisor *advisor) {
    struct uses uses = {.advisor = advisor,
                        .first_use = arena_new(advisor->arena, uint32_t, advisor->roles.input_count),
                        .input_within = arena_new(advisor->arena, uint32_t, advisor->graph.node_count)};
    if (!uses.first_use || !uses.input_within) return NULL;
    begin(&uses);
    for (uint32_t i = 0; i < advisor->schedule.count; i++) {
        uint32_t node = advisor->schedule.order[i];
        if (advisor->graph.nodes[node].computation == advisor->graph.entry) note_uses(&uses, node, i);
    }
    return uses.first_use;
}
