// The smallest set of changes that fits the capacity.
//
// Two changes together are not replayed together: what each leaves of the indefinite bytes, and of the temporary ones,
// is multiplied. Sets are tried by size; of those of one size that fit, the one that costs least wins.
#include "analysis/advice/advice.h"
#include "analysis/advice/what_if.h"

static const int costs[ADVICE_ID_COUNT] = {
    // what a change costs its user; only the order counts
    [ADVICE_DONATE_INPUTS] = 1,
    [ADVICE_REMOVE_DEBUG_PRINT] = 1,
    [ADVICE_ALIGN_DIMENSIONS] = 4,
    [ADVICE_REMATERIALIZE] = 5,
    [ADVICE_BF16_TEMPORARIES] = 7,
    [ADVICE_HALVE_BATCH] = 8,
    [ADVICE_SHARD_ALL] = 10,
    [ADVICE_BF16_PARAMETERS] = 12,
    [ADVICE_HOST_OFFLOAD_OPTIMIZER] = 14,
    [ADVICE_HOST_OFFLOAD_ACTIVATIONS] = 15,
    [ADVICE_SHARD_PARAMETERS] = 16,
};

static bool has(unsigned set, enum advice_id id) {
    return set >> id & 1;
}

static bool is_sensible(const struct advice *advice, unsigned set) {
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        const struct advice_item *item = &advice->items[id];
        if (has(set, item->id) && (!item->applies || item->saves_bytes <= 0)) return false;
    }
    return !(has(set, ADVICE_SHARD_ALL) && has(set, ADVICE_SHARD_PARAMETERS)) &&
           !(has(set, ADVICE_REMATERIALIZE) && has(set, ADVICE_HOST_OFFLOAD_ACTIVATIONS)) &&
           !(has(set, ADVICE_BF16_PARAMETERS) && has(set, ADVICE_BF16_TEMPORARIES));
}

static double part(int64_t now, int64_t then) {
    return now > 0 ? (double)then / (double)now : 1;
}

static int64_t total_of(const struct advice *advice, unsigned set) {
    int64_t temporary_now = advice->total_bytes - advice->indefinite_bytes;
    double indefinite = (double)advice->indefinite_bytes, temporary = (double)temporary_now;
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        const struct advice_item *item = &advice->items[id];
        if (!has(set, item->id)) continue;
        int64_t left = item->predicted_total_bytes - item->predicted_indefinite_bytes;
        indefinite *= part(advice->indefinite_bytes, item->predicted_indefinite_bytes);
        temporary *= part(temporary_now, left);
    }
    return what_if_bytes(indefinite + temporary);
}

static int cost_of(unsigned set) {
    int cost = 0;
    for (int id = 0; id < ADVICE_ID_COUNT; id++) cost += set >> id & 1 ? 100 + costs[id] : 0;
    return cost;
}

void advice_plan_for(struct advice *advice, int64_t capacity_bytes) {
    struct advice_plan *plan = &advice->plan;
    unsigned best = 0;
    advice->capacity_bytes = capacity_bytes;
    *plan = (struct advice_plan){.predicted_total_bytes = advice->total_bytes};
    plan->is_needed = advice->capacity_bytes > 0 && advice->total_bytes > advice->capacity_bytes;
    plan->fits = advice->capacity_bytes > 0 && !plan->is_needed;
    for (unsigned set = 1; plan->is_needed && set < 1u << ADVICE_ID_COUNT; set++) {
        if (best && cost_of(set) >= cost_of(best)) continue;
        if (is_sensible(advice, set) && total_of(advice, set) <= advice->capacity_bytes) best = set;
    }
    if (!best) return;
    plan->fits = true;
    plan->predicted_total_bytes = total_of(advice, best);
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        if (has(best, (enum advice_id)id)) plan->ids[plan->count++] = (enum advice_id)id;
    }
}
