#include "analysis/advice/early_zeros.h"

#include "analysis/advice/live_bytes.h"
#include "analysis/advice/understanding.h"

#include <math.h>

static bool is_made_of_nothing(const struct advisor *advisor, uint32_t leaf) {
    const struct graph_node *node = &advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]];
    if (node->computation != advisor->graph.entry || advisor->graph.leaves[leaf].rank < 2) return false;
    if (node->opcode == OPCODE_FUSION) return node->operand_count == 0;
    uint32_t of = node->opcode == OPCODE_BROADCAST ? graph_operand(&advisor->graph, node, 0) : HLO_NONE;
    return of != HLO_NONE && advisor->graph.nodes[of].opcode == OPCODE_CONSTANT;
}

static bool are_zeros(const struct advisor *advisor, uint32_t leaf) {
    if (leaf == HLO_NONE || advisor->batch.marks[leaf] || !is_made_of_nothing(advisor, leaf)) return false;
    return understanding_is_like_state(&advisor->graph, &advisor->roles, &advisor->batch, leaf);
}

// The bytes of zeros that come to what is alive at each step, of which each begins at the turn and ends where one chip
// makes them. NULL at the arena's limit.
static double *find_waiting(const struct advisor *advisor, const int64_t *sizes, double *all) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double *waiting = arena_new(advisor->arena, double, (size_t)replay->step_count + 2);
    uint32_t turn = advisor->phases.turn_step;
    for (uint32_t i = 0; waiting && i < replay->span_count; i++) {
        const struct heap_span *span = &replay->spans[i];
        if (span->start_step <= turn || !are_zeros(advisor, advisor_leaf(advisor, span->buffer))) continue;
        waiting[turn] += (double)sizes[span->buffer];
        waiting[span->start_step] -= (double)sizes[span->buffer];
        *all += (double)sizes[span->buffer];
    }
    return waiting;
}

struct early_zeros early_zeros_find(const struct advisor *advisor, const int64_t *sizes) {
    double all = 0, now = 0, most = 0;
    const double *live = live_bytes_after_events(advisor, sizes), *waiting = find_waiting(advisor, sizes, &all);
    for (uint32_t step = 0; live && waiting && all > 0 && step <= advisor->what_if.replay.step_count; step++) {
        now += waiting[step];
        most = fmax(most, live[step] + now);
    }
    return (struct early_zeros){what_if_bytes(all), what_if_bytes(most)};
}

// For each node: is an array of its own in a tuple, as what loops begin with is? NULL at the arena's limit.
static const bool *find_handed(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    bool *is_handed = arena_new(advisor->arena, bool, graph->node_count + 1u);
    for (uint32_t i = 0; is_handed && i < graph->node_count; i++) {
        const struct graph_node *tuple = &graph->nodes[i];
        for (uint32_t k = 0; tuple->opcode == OPCODE_TUPLE && k < tuple->operand_count; k++) {
            uint32_t node = graph_operand(graph, tuple, k);
            if (node == HLO_NONE) continue;
            uint32_t whole = graph_operand(graph, &graph->nodes[node], 0);
            bool is_element = graph->nodes[node].opcode == OPCODE_GET_TUPLE_ELEMENT && whole != HLO_NONE;
            is_handed[is_element ? whole : node] = true;
        }
    }
    return is_handed;
}

int64_t early_zeros_read_bytes(const struct advisor *advisor, const struct shape_set *tables) {
    const bool *is_handed = find_handed(advisor);
    double bytes = 0;
    for (uint32_t i = 0; is_handed && i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        if (node->leaf_count != 2 || is_handed[i] || !are_zeros(advisor, node->first_leaf)) continue;
        const struct array_shape *one = &advisor->graph.leaves[node->first_leaf], *other = one + 1;
        if (array_same_dimensions(one, other) && shape_set_has(tables, one)) bytes += (double)array_shape_bytes(one);
    }
    return what_if_bytes(bytes);
}
