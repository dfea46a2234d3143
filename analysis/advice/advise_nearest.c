#include "analysis/advice/advise_nearest.h"

#include <math.h>

#include "analysis/advice/advice_cost.h"
#include "analysis/advice/waterfall.h"
#include "analysis/advice/what_if.h"

enum { NEAR_DIVISOR = 100, LEAST_WAYS_MAX = 4096 };

// --- The set ---

static int64_t least_total(const struct advice *advice) {
    int64_t least = advice->total_bytes;
    for (size_t i = 0; i < advice_set_known_count(advice); i++) {
        unsigned set = advice_set_known(advice, i);
        if (set && advice_set_total(advice, set) < least) least = advice_set_total(advice, set);
    }
    return least;
}

static bool is_better(const struct advice *advice, unsigned a, unsigned b) {
    int x = advice_cost_points(advice_cost_of(advice, a)), y = advice_cost_points(advice_cost_of(advice, b));
    return x != y ? x < y : advice_set_total(advice, a) < advice_set_total(advice, b);
}

static unsigned find_set(const struct advice *advice) {
    int64_t most = least_total(advice) + advice->capacity_bytes / NEAR_DIVISOR;
    unsigned best = 0;
    for (size_t i = 0; i < advice_set_known_count(advice); i++) {
        unsigned set = advice_set_known(advice, i);
        if (!set || advice_set_total(advice, set) > most) continue;
        if (!best || is_better(advice, set, best)) best = set;
    }
    return best;
}

// --- The chips ---

static int64_t total_over(const struct advice *advice, int64_t ways) {
    const struct advice_item *all = &advice->items[ADVICE_SHARD_ALL];
    double divided = (double)all->saves_bytes * (double)all->ways / (double)(all->ways - 1);
    double total = (double)advice->total_bytes;
    if (divided > total) divided = total;
    return what_if_bytes(ceil(total - divided + divided / (double)ways));
}

// Of a program that is compiled for several chips the bytes are one chip's share: of what is shared already no total
// tells.
static void find_ways(struct advice *advice) {
    const struct advice_item *all = &advice->items[ADVICE_SHARD_ALL];
    if (advice->partitions > 1) return;
    if (!all->applies || all->saves_bytes <= 0 || all->ways < 2) return;
    for (int64_t ways = 2; ways <= LEAST_WAYS_MAX && advice->batch % ways == 0; ways *= 2) {
        int64_t total = total_over(advice, ways);
        if (total > advice->capacity_bytes) continue;
        advice->least_ways = ways;
        advice->least_ways_bytes = total;
        return;
    }
}

void advice_nearest_find(struct advice *advice) {
    advice->nearest = (struct advice_plan){0};
    advice->least_ways = advice->least_ways_bytes = 0;
    if (!advice->plan.is_needed) return;
    find_ways(advice);
    unsigned set = advice->plan.fits ? 0 : find_set(advice);
    if (!set) return;
    advice->nearest = waterfall_of(advice, set, ADVICE_PLAN);
    advice->nearest.is_needed = true;
}
