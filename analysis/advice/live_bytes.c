#include "analysis/advice/live_bytes.h"

double *live_bytes_after_events(const struct advisor *advisor, const int64_t *sizes) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double *live = arena_new(advisor->arena, double, (size_t)replay->step_count + 2);
    for (uint32_t i = 0; i < replay->stay_count && live; i++) {
        const struct heap_stay *stay = &replay->stays[i];
        live[stay->start_step] += (double)sizes[stay->root];
        live[stay->end_step] -= (double)sizes[stay->root];
    }
    for (uint32_t i = 1; i <= replay->step_count && live; i++) live[i] += live[i - 1];
    return live;
}

double live_bytes_most(const struct advisor *advisor, const double *live) {
    double most = 0;
    for (uint32_t i = 0; i <= advisor->what_if.replay.step_count; i++) most = live[i] > most ? live[i] : most;
    return most;
}

static void fill_gaps(const struct program_graph *graph, double *at) {
    for (uint32_t i = 1; i < graph->node_count; i++) {
        if (at[i] == 0 && graph->nodes[i].computation == graph->nodes[i - 1].computation) at[i] = at[i - 1];
    }
}

double *live_bytes_at_nodes(const struct advisor *advisor, const double *live) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double *at = arena_new(advisor->arena, double, advisor->graph.node_count);
    for (uint32_t i = 0; i < replay->span_count && at; i++) {
        const struct heap_span *span = &replay->spans[i];
        bool is_own = span->buffer < advisor->what_if.module->buffer_count;
        uint32_t node = is_own ? advisor->module->buffers[span->buffer].instruction : HLO_NONE;
        if (node < advisor->graph.node_count && live[span->start_step] > at[node]) at[node] = live[span->start_step];
    }
    if (at) fill_gaps(&advisor->graph, at);
    return at;
}
