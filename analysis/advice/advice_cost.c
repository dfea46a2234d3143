#include "analysis/advice/advice_cost.h"

enum { NUMERICS_POINTS = 4, SPEED_POINTS = 2, CHIPS_POINTS = 16 };

static const struct advice_cost costs[ADVICE_CHANGE_COUNT] = {
    //                                numerics, speed, work
    [ADVICE_DONATE_INPUTS] = {0, 0, 1, 0},
    [ADVICE_REMOVE_DEBUG_PRINT] = {0, 0, 1, 0},
    [ADVICE_REMATERIALIZE_DOTS] = {0, 1, 1, 0},  // of it only what is cheap
    [ADVICE_REMATERIALIZE] = {0, 2, 1, 0},       // the forward pass once more: about a third
    [ADVICE_ALIGN_DIMENSIONS] = {1, 0, 2, 0},
    [ADVICE_MICRO_BATCH] = {0, 2, 2, 0},  // weights are read once a part, products are smaller
    [ADVICE_MICRO_BATCH_TWICE] = {0, 3, 2, 0},
    [ADVICE_MICRO_BATCH_FOUR_TIMES] = {0, 4, 2, 0},
    [ADVICE_BF16_TEMPORARIES] = {1, 0, 2, 0},
    [ADVICE_HALVE_BATCH] = {1, 1, 1, 0},
    [ADVICE_BF16_PARAMETERS] = {2, 0, 1, 0},
    [ADVICE_INT8_WEIGHTS] = {2, 0, 3, 0},
    [ADVICE_HALVE_SEQUENCE] = {2, 1, 1, 0},
    [ADVICE_HOST_OFFLOAD_OPTIMIZER] = {0, 3, 2, 0},
    [ADVICE_HOST_OFFLOAD_ACTIVATIONS] = {0, 4, 3, 0},
    [ADVICE_SHARD_PARAMETERS] = {0, 1, 3, 0},
    [ADVICE_SHARD_ALL] = {0, 1, 4, 0},
};

struct advice_cost advice_cost_of(const struct advice *advice, unsigned set) {
    struct advice_cost sum = {0};
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        if (!advice_set_has(set, (enum advice_id)id)) continue;
        sum.numerics += costs[id].numerics;
        sum.speed += costs[id].speed;
        sum.work += costs[id].work;
        if (advice->items[id].ways > advice->partitions) sum.chips = 1;
    }
    return sum;
}

int advice_cost_points(struct advice_cost cost) {
    return NUMERICS_POINTS * cost.numerics + SPEED_POINTS * cost.speed + cost.work + CHIPS_POINTS * cost.chips;
}

unsigned advice_sets_of_same_numerics(void) {
    unsigned set = 0;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) set |= costs[id].numerics ? 0 : 1u << id;
    return set;
}

unsigned advice_sets_of_same_speed(void) {
    unsigned set = 0;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) set |= costs[id].speed ? 0 : 1u << id;
    return set;
}
