#include "analysis/advice/understanding.h"

#include <math.h>

enum { F32 = 11, WEIGHTS_MAX = 4096 };

#define WIDEN_BELOW 0.8
#define TELL_FROM 0.5
#define LEAST_PART 0.05  // of the total: less is not held against a prediction
#define WIDE_PART 0.25   // of the total: a range that is wider tells little

// --- Weights and what is like them ---

static bool is_weight(const struct program_roles *roles, const struct dimension_flow *batch, uint32_t input) {
    const struct entry_input *in = &roles->inputs[input];
    if (in->leaf == HLO_NONE || !array_is(flow_leaf(batch, in->leaf))) return false;
    return roles->is_training ? in->is_state || in->is_frozen : !batch->marks[in->leaf] && in->mirror == HLO_NONE;
}

static int sorted_dimensions(const struct array_shape *shape, int first, int64_t sorted[ARRAY_RANK_MAX]) {
    int count = 0;
    for (int d = first; d < shape->rank; d++) {
        int at = count;
        if (shape->dimensions[d] == 1) continue;
        for (; at > 0 && sorted[at - 1] > shape->dimensions[d]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = shape->dimensions[d];
        count++;
    }
    return count;
}

static bool is_alike(const struct array_shape *shape, const struct array_shape *weight, int first) {
    int64_t a[ARRAY_RANK_MAX], b[ARRAY_RANK_MAX];
    int count = sorted_dimensions(shape, 0, a);
    if (sorted_dimensions(weight, first, b) != count) return false;
    return memcmp(a, b, (size_t)count * sizeof a[0]) == 0;
}

bool understanding_is_like_state(const struct program_graph *graph, const struct program_roles *roles,
                                 const struct dimension_flow *batch, uint32_t leaf) {
    const struct array_shape *shape = &graph->leaves[leaf];
    if (!array_is(shape)) return false;
    for (uint32_t i = 0; i < roles->input_count && i < WEIGHTS_MAX; i++) {
        if (!is_weight(roles, batch, i)) continue;
        const struct array_shape *weight = &graph->leaves[roles->inputs[i].leaf];
        if (is_alike(shape, weight, 0) || (weight->rank > 2 && is_alike(shape, weight, 1))) return true;
    }
    return false;
}

bool understanding_is_unknown_input(const struct program_roles *roles, const struct dimension_flow *batch,
                                    uint32_t input) {
    const struct entry_input *in = &roles->inputs[input];
    if (in->leaf == HLO_NONE) return true;
    return !roles->is_training && in->mirror != HLO_NONE && !batch->marks[in->leaf];
}

// --- At the peak ---

static void add_to_peak(const struct program_graph *graph, const struct program_roles *roles,
                        const struct dimension_flow *batch, const struct hlo_buffer *buffer, uint32_t leaf,
                        struct peak_bytes *peak) {
    double bytes = (double)buffer->size_bytes;
    uint32_t node = leaf == HLO_NONE ? HLO_NONE : graph->node_of_leaf[leaf];
    if (node != HLO_NONE && batch->marks[leaf]) {
        peak->batch += bytes;
        if (graph->nodes[node].computation != graph->entry) peak->inside += bytes;
        return;
    }
    if (leaf != HLO_NONE && understanding_is_like_state(graph, roles, batch, leaf)) {
        peak->state += bytes;
        return;
    }
    peak->other += bytes;
    if (leaf != HLO_NONE && graph->leaves[leaf].element_type == F32) peak->other_f32 += bytes;
}

struct peak_bytes understanding_of_peak(const struct what_if *what_if, const struct program_graph *graph,
                                        const struct program_roles *roles, const struct dimension_flow *batch) {
    const struct heap_replay *replay = &what_if->replay;
    struct peak_bytes peak = {0};
    double smallest = (double)what_if->total_bytes / 10000;
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t b = replay->live_at_peak[i];
        const struct hlo_buffer *buffer = &what_if->residents.module.buffers[b];
        if ((double)buffer->size_bytes < smallest) continue;
        add_to_peak(graph, roles, batch, buffer, graph->leaf_of_buffer[b], &peak);
    }
    return peak;
}

// --- What follows from it ---

static double in_thousandths(double share) {
    return floor(share * 1000) / 1000;
}

double understanding_unknown_bytes(const struct advice_doubt *doubt) {
    double unknown = doubt->may_go_bytes + doubt->may_stay_bytes;
    return unknown < doubt->population_bytes ? unknown : doubt->population_bytes;
}

static double share_understood(const struct what_if *now, const struct advice_doubt *doubt) {
    double unknown = understanding_unknown_bytes(doubt);
    if (doubt->population_bytes <= 0 || unknown <= 0) return 1;
    double share = in_thousandths(1 - unknown / doubt->population_bytes);
    if (share < WIDEN_BELOW && unknown < LEAST_PART * (double)now->total_bytes) return WIDEN_BELOW;
    return share > 0 ? share : 0;
}

static int64_t at_least_none(int64_t bytes) {
    return bytes > 0 ? bytes : 0;
}

// What may go as well is touched too, and need not stay.
static void widen(const struct what_if *now, const struct advice_doubt *doubt, struct advice_item *item) {
    int64_t goes = what_if_bytes(doubt->may_go_bytes * doubt->part);
    int64_t stays = what_if_bytes(doubt->may_stay_bytes * doubt->part);
    int64_t most = now->total_bytes + item->added_bytes, high = item->high_bytes + stays;
    item->stays_bytes = at_least_none(item->stays_bytes - goes);
    item->touched_bytes += goes < now->total_bytes - item->touched_bytes ? goes
                                                                         : now->total_bytes - item->touched_bytes;
    item->low_bytes = at_least_none(item->low_bytes - goes);
    if (high > most) high = most;
    if (high > item->high_bytes) item->high_bytes = high;
}

static double share_of_range(const struct what_if *now, const struct advice_item *item) {
    double width = (double)item->high_bytes - (double)item->low_bytes, predicted = (double)item->predicted_total_bytes;
    bool is_wide = width > predicted && width > WIDE_PART * (double)now->total_bytes;
    return item->applies && is_wide ? in_thousandths(predicted / (2 * width)) : 1;
}

enum understood understanding_judge(const struct what_if *now, const struct advice_doubt *doubt,
                                    struct advice_item *item) {
    item->understood = share_understood(now, doubt);
    if (item->understood < WIDEN_BELOW) widen(now, doubt, item);
    bool is_little = item->understood < TELL_FROM, is_wide = share_of_range(now, item) < TELL_FROM;
    item->cannot_tell = is_little || is_wide;
    if (is_wide && !is_little) item->understood = share_of_range(now, item);
    return is_little ? UNDERSTOOD_TOO_LITTLE : is_wide ? UNDERSTOOD_TOO_WIDELY : UNDERSTOOD_WELL;
}
