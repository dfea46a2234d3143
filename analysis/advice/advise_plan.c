// The set of changes that fits the capacity, to be told as *the* plan.
//
//     single changes that fit --> the least total among them: no plan is larger      10.2 [9, 12]  15.1 [13, 17]
//     all sets                --> those of that total or less                              capacity 15.75 -^
//                             --> the fewest changes, of those the gentlest; sets whose whole range fits come first
//
// Two changes together are not replayed together: what each leaves of the indefinite bytes, and of the temporary ones,
// is multiplied, and so are their ranges. A plan that needs more chips has another beside it that does not, where some
// set does without: the fewest and gentlest changes that fit, whatever its total.
#include "analysis/advice/advice.h"
#include "analysis/advice/what_if.h"

enum { COST_OF_ONE = 1000 };  // so that fewer changes always cost less

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

enum { SHARDING = 1u << ADVICE_SHARD_ALL | 1u << ADVICE_SHARD_PARAMETERS, ALL = (1u << ADVICE_ID_COUNT) - 1 };

static bool is_sensible(const struct advice *advice, unsigned set) {
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        const struct advice_item *item = &advice->items[id];
        if (has(set, item->id) && (!item->applies || item->saves_bytes <= 0)) return false;
    }
    return !(has(set, ADVICE_SHARD_ALL) && has(set, ADVICE_SHARD_PARAMETERS)) &&
           !(has(set, ADVICE_REMATERIALIZE) && has(set, ADVICE_HOST_OFFLOAD_ACTIVATIONS)) &&
           !(has(set, ADVICE_BF16_PARAMETERS) && has(set, ADVICE_BF16_TEMPORARIES));
}

static bool is_single(unsigned set) {
    return (set & (set - 1)) == 0;
}

// What a change leaves of `bytes`, when it makes `then` of `now`.
static double left_of(double bytes, int64_t now, int64_t then) {
    return now > 0 ? bytes * ((double)then / (double)now) : bytes + (double)then;
}

static int64_t total_of(const struct advice *advice, unsigned set) {
    int64_t temporary_now = advice->total_bytes - advice->indefinite_bytes;
    double indefinite = (double)advice->indefinite_bytes, temporary = (double)temporary_now;
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        const struct advice_item *item = &advice->items[id];
        if (!has(set, item->id)) continue;
        if (is_single(set)) return item->predicted_total_bytes;
        int64_t temporary_then = item->predicted_total_bytes - item->predicted_indefinite_bytes;
        indefinite = left_of(indefinite, advice->indefinite_bytes, item->predicted_indefinite_bytes);
        temporary = left_of(temporary, temporary_now, temporary_then);
    }
    return what_if_bytes(indefinite + temporary);
}

static int cost_of(unsigned set) {
    int cost = 0;
    for (int id = 0; id < ADVICE_ID_COUNT; id++) cost += set >> id & 1 ? COST_OF_ONE + costs[id] : 0;
    return cost;
}

static int count_of(unsigned set) {
    return cost_of(set) / COST_OF_ONE;
}

static struct advice_plan plan_of(const struct advice *advice, unsigned set) {
    struct advice_plan plan = {.is_needed = true, .fits = true, .predicted_total_bytes = total_of(advice, set)};
    double low = (double)plan.predicted_total_bytes, high = low;
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        const struct advice_item *item = &advice->items[id];
        if (!has(set, item->id)) continue;
        plan.ids[plan.count++] = item->id;
        if (item->ways) plan.ways = item->ways;
        low = left_of(low, item->predicted_total_bytes, item->low_bytes);
        high = left_of(high, item->predicted_total_bytes, item->high_bytes);
    }
    plan.low_bytes = what_if_bytes(low);
    plan.high_bytes = what_if_bytes(high);
    return plan;
}

static void keep_gentler(unsigned set, unsigned *best) {
    if (!*best || cost_of(set) < cost_of(*best)) *best = set;
}

// Of the sets within `allowed` whose total is at most `most`. A set that surely fits is worth one more change than one
// that may. Without changes where none is.
static struct advice_plan best_of(const struct advice *advice, unsigned allowed, int64_t most) {
    unsigned sure = 0, any = 0;
    for (unsigned set = 1; set <= ALL; set++) {
        if ((set & ~allowed) || !is_sensible(advice, set) || total_of(advice, set) > most) continue;
        keep_gentler(set, &any);
        if (plan_of(advice, set).high_bytes <= advice->capacity_bytes) keep_gentler(set, &sure);
    }
    bool is_sure_worth_it = sure && count_of(sure) <= count_of(any) + 1;
    return any ? plan_of(advice, is_sure_worth_it ? sure : any) : (struct advice_plan){0};
}

// The least total of a single change that fits; the capacity where none does.
static int64_t least_of_singles(const struct advice *advice) {
    int64_t least = advice->capacity_bytes;
    for (unsigned set = 1; set <= ALL; set++) {
        if (is_single(set) && is_sensible(advice, set) && total_of(advice, set) < least) least = total_of(advice, set);
    }
    return least;
}

void advice_plan_for(struct advice *advice, int64_t capacity_bytes) {
    advice->capacity_bytes = capacity_bytes;
    advice->without_sharding = (struct advice_plan){0};
    advice->plan = (struct advice_plan){.predicted_total_bytes = advice->total_bytes,
                                        .low_bytes = advice->total_bytes,
                                        .high_bytes = advice->total_bytes};
    advice->plan.fits = capacity_bytes > 0 && advice->total_bytes <= capacity_bytes;
    advice->plan.is_needed = capacity_bytes > 0 && !advice->plan.fits;
    if (!advice->plan.is_needed) return;
    struct advice_plan plan = best_of(advice, ALL, least_of_singles(advice));
    if (!plan.count) return;
    advice->plan = plan;
    if (plan.ways) advice->without_sharding = best_of(advice, ALL & ~(unsigned)SHARDING, capacity_bytes);
}
