#include "analysis/advice/layer_count.h"

#include "analysis/advice/shape_set.h"
#include "analysis/advice/looked_up.h"
#include "analysis/advice/loop_steps.h"
#include "analysis/base/common_divisor.h"

enum { INPUTS_MAX = 4096 };

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

// Of `untrained` weights, of which a few may stand before the first adapter, those that are half of all or more do not
// count: layers of another pass. NULL: all count.
static struct alike find_alike(const struct advisor *advisor, uint32_t input, const bool *untrained) {
    struct alike alike = {.rank = shape_of(advisor, input)->rank, .first = SCHEDULE_NEVER, .last = SCHEDULE_NEVER};
    uint32_t aside = 0;
    for (uint32_t k = 0; k < advisor->roles.input_count && k < INPUTS_MAX; k++) {
        if (!advisor_is_weight(advisor, k) || !array_same_dimensions(shape_of(advisor, input), shape_of(advisor, k)))
            continue;
        alike.count++;
        bool is_aside = untrained && untrained[advisor->roles.inputs[k].leaf];
        aside += is_aside;
        if (!is_aside) add_time(advisor->first_use[k], &alike);
    }
    if (2 * aside >= alike.count) alike.count -= aside;
    return alike;
}

// Two matrices, and no weight of another shape used between them? Then what follows each of them is no block that comes
// again. Two kernels may be two blocks.
static bool is_pair(const struct advisor *advisor, const struct alike *alike) {
    if (alike->rank != 2 || alike->count != 2 || alike->first == SCHEDULE_NEVER) return false;
    uint32_t between = 0;
    for (uint32_t k = 0; k < advisor->roles.input_count && k < INPUTS_MAX; k++) {
        if (!advisor_is_weight(advisor, k) || shape_of(advisor, k)->rank < 2) continue;
        between += advisor->first_use[k] >= alike->first && advisor->first_use[k] <= alike->last;
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
struct layer_count layer_count_find(const struct advisor *advisor) {
    enum { LITTLE_DIVISOR = 16 };
    double most = 0;
    struct shape_set tables = find_tables(advisor);
    struct layer_count layers = {.is_even = true};
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < advisor->roles.input_count && i < INPUTS_MAX; i++) {
            if (!advisor_is_weight(advisor, i) || shape_of(advisor, i)->rank < 2) continue;
            struct alike alike = find_alike(advisor, i, advisor->untrained_weights);
            double bytes = alike.count * (double)array_shape_bytes(shape_of(advisor, i));
            if (alike.count < 2) continue;
            if (pass == 0 && bytes > most) most = bytes;
            if (pass == 0 || bytes * LITTLE_DIVISOR < most || shape_set_has(&tables, shape_of(advisor, i))) continue;
            bool is_aside = is_pair(advisor, &alike);
            layers.is_even &= !is_aside && (!layers.count || layers.count == alike.count);
            if (is_aside) continue;
            layers.count = (uint32_t)common_divisor(alike.count, layers.count);
        }
    }
    return layers;
}

static bool is_stack(const struct advisor *advisor, uint32_t input) {
    return advisor_is_weight(advisor, input) && shape_of(advisor, input)->rank > 2 &&
           loop_steps_is_stack(&advisor->steps, advisor->roles.inputs[input].leaf);
}

uint32_t layer_count_of_turn(const struct advisor *advisor) {
    enum { LITTLE_DIVISOR = 16 };
    int64_t most = 0;
    uint32_t count = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count && i < INPUTS_MAX; i++) {
        int64_t bytes = is_stack(advisor, i) ? array_shape_bytes(shape_of(advisor, i)) : 0;
        if (bytes > most) most = bytes;
    }
    for (uint32_t i = 0; i < advisor->roles.input_count && i < INPUTS_MAX; i++) {
        if (!is_stack(advisor, i) || array_shape_bytes(shape_of(advisor, i)) < most / LITTLE_DIVISOR) continue;
        count = (uint32_t)common_divisor(find_alike(advisor, i, NULL).count, count);
    }
    return count;
}
