#include "analysis/advice/layer_count.h"

#include "analysis/advice/shape_set.h"
#include "analysis/advice/looked_up.h"
#include "analysis/base/common_divisor.h"
#include "analysis/program/schedule.h"

enum { INPUTS_MAX = 4096 };

// --- When each weight is used first ---

struct clock {
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

static void note_uses(const struct clock *clock, uint32_t index, uint32_t time) {
    const struct program_graph *graph = &clock->advisor->graph;
    const struct graph_node *node = &graph->nodes[index];
    bool is_used = is_of_batch(clock->advisor, node);
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(graph, node, i);
        uint32_t input = operand == HLO_NONE ? HLO_NONE : clock->input_within[operand];
        if (input == HLO_NONE) continue;
        if (!is_used) clock->input_within[index] = input;
        if (is_used && time < clock->first_use[input]) clock->first_use[input] = time;
    }
}

static bool set_up(struct clock *clock, struct schedule *schedule) {
    const struct advisor *advisor = clock->advisor;
    const struct program_roles *roles = &advisor->roles;
    clock->first_use = arena_push_raw(advisor->arena, roles->input_count, sizeof *clock->first_use);
    clock->input_within = arena_push_raw(advisor->arena, advisor->graph.node_count, sizeof *clock->input_within);
    if (!clock->first_use || !clock->input_within || !schedule_read(&advisor->graph, advisor->arena, schedule))
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the times of weights");
    for (uint32_t i = 0; i < roles->input_count; i++) clock->first_use[i] = SCHEDULE_NEVER;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) clock->input_within[i] = HLO_NONE;
    return true;
}

static bool read_clock(struct clock *clock) {
    struct schedule schedule = {.count = 0};
    const struct program_graph *graph = &clock->advisor->graph;
    const struct program_roles *roles = &clock->advisor->roles;
    if (!set_up(clock, &schedule)) return false;
    for (uint32_t i = 0; i < roles->input_count; i++) {
        if (roles->inputs[i].leaf == HLO_NONE || !advisor_is_weight(clock->advisor, i)) continue;
        clock->input_within[graph->node_of_leaf[roles->inputs[i].leaf]] = i;
    }
    for (uint32_t i = 0; i < schedule.count; i++) {
        if (graph->nodes[schedule.order[i]].computation == graph->entry) note_uses(clock, schedule.order[i], i);
    }
    return true;
}

// --- Shapes ---

static const struct array_shape *shape_of(const struct advisor *advisor, uint32_t input) {
    return &advisor->graph.leaves[advisor->roles.inputs[input].leaf];
}

struct alike {  // weights of one shape
    int rank;
    uint32_t count;
    uint32_t first, last;  // of the times they are used first; SCHEDULE_NEVER: not known
};

static void add_time(uint32_t time, struct alike *alike) {
    if (time == SCHEDULE_NEVER) return;
    if (alike->first == SCHEDULE_NEVER || time < alike->first) alike->first = time;
    if (alike->last == SCHEDULE_NEVER || time > alike->last) alike->last = time;
}

static struct alike find_alike(const struct clock *clock, uint32_t input) {
    const struct advisor *advisor = clock->advisor;
    struct alike alike = {.rank = shape_of(advisor, input)->rank, .first = SCHEDULE_NEVER, .last = SCHEDULE_NEVER};
    for (uint32_t k = 0; k < advisor->roles.input_count && k < INPUTS_MAX; k++) {
        if (!advisor_is_weight(advisor, k) || !array_same_dimensions(shape_of(advisor, input), shape_of(advisor, k)))
            continue;
        alike.count++;
        add_time(clock->first_use[k], &alike);
    }
    return alike;
}

// Two matrices, and no weight of another shape used between them? Then what follows each of them is no block that comes
// again. Two kernels may be two blocks.
static bool is_pair(const struct clock *clock, const struct alike *alike) {
    const struct advisor *advisor = clock->advisor;
    if (alike->rank != 2 || alike->count != 2 || alike->first == SCHEDULE_NEVER) return false;
    uint32_t between = 0;
    for (uint32_t k = 0; k < advisor->roles.input_count && k < INPUTS_MAX; k++) {
        if (!advisor_is_weight(advisor, k) || shape_of(advisor, k)->rank < 2) continue;
        between += clock->first_use[k] >= alike->first && clock->first_use[k] <= alike->last;
    }
    return between == 2;
}

// What rows are taken of. A weight of such dimensions is no block's: tables stand at the ends, with a head that may be
// as large.
static struct shape_set find_tables(const struct advisor *advisor) {
    struct shape_set tables = {.count = 0};
    for (uint32_t i = 0; i < advisor->graph.node_count && tables.count < SHAPE_SET_MAX; i++) {
        uint32_t table = looked_up_table(advisor, i);
        if (table != HLO_NONE) shape_set_add(&tables, &advisor->graph.leaves[table]);
    }
    return tables;
}

// As many blocks as divide how often every shape comes.
static struct layer_count count_layers(const struct clock *clock) {
    enum { LITTLE_DIVISOR = 16 };
    double most = 0;
    const struct advisor *advisor = clock->advisor;
    struct shape_set tables = find_tables(advisor);
    struct layer_count layers = {.is_even = true};
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < advisor->roles.input_count && i < INPUTS_MAX; i++) {
            if (!advisor_is_weight(advisor, i) || shape_of(advisor, i)->rank < 2) continue;
            struct alike alike = find_alike(clock, i);
            double bytes = alike.count * (double)array_shape_bytes(shape_of(advisor, i));
            if (alike.count < 2) continue;
            if (pass == 0 && bytes > most) most = bytes;
            if (pass == 0 || bytes * LITTLE_DIVISOR < most || shape_set_has(&tables, shape_of(advisor, i))) continue;
            bool is_aside = is_pair(clock, &alike);
            layers.is_even &= !is_aside && (!layers.count || layers.count == alike.count);
            if (is_aside) continue;
            layers.count = (uint32_t)common_divisor(alike.count, layers.count);
        }
    }
    return layers;
}

bool layer_count_find(const struct advisor *advisor, struct layer_count *layers) {
    struct clock clock = {.advisor = advisor};
    if (!read_clock(&clock)) return false;
    *layers = count_layers(&clock);
    return true;
}
