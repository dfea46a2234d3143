#include "analysis/advice/summed_whole.h"

#include "analysis/advice/dimension_ties.h"
#include "analysis/advice/weight_products.h"
#include "analysis/program/callers.h"

static bool is_cut_after(const struct advisor *advisor, const struct dimension_flow *split,
                         const struct weight_product *product) {
    uint8_t of_activation = split->marks[product->activation], of_result = split->marks[product->result];
    return of_activation && !(of_activation & advisor->batch.marks[product->activation]) &&
           (of_result & advisor->batch.marks[product->result]);
}

// Outside of loops: within, what is carried and stacked is another matter.
static bool is_summed_whole(const struct advisor *advisor, const struct sharding_split *split, uint32_t index,
                            struct weight_product *product) {
    return weight_product_read(advisor, index, product) && product->weight != HLO_NONE && !product->is_in_loop &&
           is_cut_after(advisor, &split->flow, product) &&
           dimension_ties_is_contracted(&split->flow, &advisor->graph.nodes[index]);
}

// The operation that the schedule has for it: the outermost fusion.
static uint32_t scheduled(const struct program_graph *graph, const uint32_t *caller, uint32_t index) {
    enum { DEPTH_MAX = 32 };
    for (int i = 0; i < DEPTH_MAX; i++) {
        uint32_t outer = caller[graph->nodes[index].computation];
        if (outer == HLO_NONE || !node_stands_for_body(&graph->nodes[outer])) break;
        index = outer;
    }
    return index;
}

// Live bytes after each event.
static double *live_bytes(const struct advisor *advisor, const int64_t *sizes) {
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

// The most that is live when an operation has its results, of each operation; 0: it has none on the heap.
static double *live_at_nodes(const struct advisor *advisor, const double *live) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double *at = arena_new(advisor->arena, double, advisor->graph.node_count);
    for (uint32_t i = 0; i < replay->span_count && at; i++) {
        const struct heap_span *span = &replay->spans[i];
        bool is_own = span->buffer < advisor->what_if.module->buffer_count;
        uint32_t node = is_own ? advisor->module->buffers[span->buffer].instruction : HLO_NONE;
        if (node < advisor->graph.node_count && live[span->start_step] > at[node]) at[node] = live[span->start_step];
    }
    return at;
}

static double largest(const double *live, uint32_t count) {
    double most = 0;
    for (uint32_t i = 0; i < count; i++) most = live[i] > most ? live[i] : most;
    return most;
}

static void find_largest(const struct advisor *advisor, const struct sharding_split *split, const uint32_t *caller,
                         const double *live_at, double peak, struct summed_whole *whole) {
    double most = peak;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!is_summed_whole(advisor, split, i, &product)) continue;
        double beside = live_at[scheduled(&advisor->graph, caller, i)], own = weight_product_bytes(advisor, &product);
        if (beside <= 0 || beside + own <= most) continue;
        most = beside + own;
        *whole = (struct summed_whole){what_if_bytes(most - peak), what_if_bytes(own)};
    }
}

bool summed_whole_find(struct advisor *advisor, const struct sharding_split *split, const int64_t *sizes,
                       struct summed_whole *whole) {
    uint32_t *caller = callers_find(&advisor->graph, advisor->arena);
    double *live = live_bytes(advisor, sizes), *live_at = live ? live_at_nodes(advisor, live) : NULL;
    *whole = (struct summed_whole){0};
    if (!caller || !live_at)
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the heap of a program on several chips");
    double peak = largest(live, advisor->what_if.replay.step_count + 1);
    find_largest(advisor, split, caller, live_at, peak, whole);
    return true;
}
