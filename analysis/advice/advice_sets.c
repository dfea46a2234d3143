#include "analysis/advice/advice_sets.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/advice/what_if.h"

#define CHANGE(id) (1u << ADVICE_##id)

// Changes of the same bytes: of each of these at most one is made.
static const unsigned excluding[] = {
    CHANGE(SHARD_ALL) | CHANGE(SHARD_PARAMETERS),
    CHANGE(HALVE_BATCH) | CHANGE(MICRO_BATCH) | CHANGE(MICRO_BATCH_TWICE) | CHANGE(MICRO_BATCH_FOUR_TIMES),
    CHANGE(REMATERIALIZE) | CHANGE(REMATERIALIZE_DOTS) | CHANGE(HOST_OFFLOAD_ACTIVATIONS),
    CHANGE(BF16_PARAMETERS) | CHANGE(BF16_TEMPORARIES),
    CHANGE(BF16_PARAMETERS) | CHANGE(INT8_WEIGHTS),
};

unsigned advice_set_useful(const struct advice *advice) {
    unsigned set = 0;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        if (advice->items[id].applies && advice->items[id].saves_bytes > 0) set |= 1u << id;
    }
    return set;
}

bool advice_set_is_sensible(const struct advice *advice, unsigned set) {
    for (size_t i = 0; i < sizeof excluding / sizeof *excluding; i++) {
        if (advice_set_count(set & excluding[i]) > 1) return false;
    }
    return !(set & ~advice_set_useful(advice));
}

int advice_together_order(const void *left, const void *right) {
    const struct advice_together *a = left, *b = right;
    return (a->set > b->set) - (a->set < b->set);
}

int64_t advice_set_total(const struct advice *advice, unsigned set) {
    struct advice_together wanted = {.set = set};
    if (!set) return advice->total_bytes;
    if (advice_set_is_single(set)) return advice->items[__builtin_ctz(set)].predicted_total_bytes;
    const struct advice_together *found = advice->together_count
                                              ? bsearch(&wanted, advice->together, advice->together_count,
                                                        sizeof *advice->together, advice_together_order)
                                              : NULL;
    return found ? found->predicted_total_bytes : INT64_MAX;
}

// How far off `bytes` are where `whole` is off by `part` of it.
static double off_by(double bytes, int64_t part, int64_t whole) {
    return whole > 0 ? bytes * ((double)part / (double)whole) : (double)part;
}

static int64_t low_of(const struct advice_item *item, bool is_kept) {
    return is_kept && item->kept_low_bytes ? item->kept_low_bytes : item->low_bytes;
}

// Of two changes whose own ranges are narrow, the pair's is too: 35 of 39 compiled pairs were inside (docs/advice.md).
static double narrowing(const struct advice *advice, unsigned set, bool is_kept, double width) {
    const double narrow = 0.098;      // of the total
    const double rounded_up = 1.001;  // what was cut to it has whole bytes
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        const struct advice_item *item = &advice->items[id];
        double own = (double)(item->high_bytes - low_of(item, is_kept)),
               predicted = (double)item->predicted_total_bytes;
        if (advice_set_has(set, (enum advice_id)id) && own > rounded_up * narrow * predicted) return 1;
    }
    double most = narrow * (double)advice_set_total(advice, set);
    return advice_set_count(set) == 2 && width > most ? most / width : 1;
}

// One change does not know how far off another is: their squares add up.
static struct advice_range range_of(const struct advice *advice, unsigned set, bool is_kept) {
    double total = (double)advice_set_total(advice, set), below = 0, above = 0;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        const struct advice_item *item = &advice->items[id];
        int64_t predicted = item->predicted_total_bytes;
        if (!advice_set_has(set, (enum advice_id)id)) continue;
        if (set == 1u << id) return (struct advice_range){low_of(item, is_kept), item->high_bytes, 0};
        double down = off_by(total, predicted - low_of(item, is_kept), predicted);
        double up = off_by(total, item->high_bytes - predicted, predicted);
        below += down * down;
        above += up * up;
    }
    double part = narrowing(advice, set, is_kept, sqrt(below) + sqrt(above));
    double low = total - part * sqrt(below);
    return (struct advice_range){what_if_bytes(low > 0 ? low : 0), what_if_bytes(total + part * sqrt(above)), 0};
}

// The second of two totals is the lower: up to the most of the first.
struct advice_range advice_set_range(const struct advice *advice, unsigned set) {
    struct advice_range range = range_of(advice, set, false), kept = range_of(advice, set, true);
    if (kept.low_bytes <= range.low_bytes) return range;
    return (struct advice_range){range.low_bytes, kept.high_bytes, kept.low_bytes};
}

size_t advice_set_known_count(const struct advice *advice) {
    return ADVICE_CHANGE_COUNT + advice->together_count;
}

unsigned advice_set_known(const struct advice *advice, size_t index) {
    unsigned set = index < ADVICE_CHANGE_COUNT ? 1u << index : advice->together[index - ADVICE_CHANGE_COUNT].set;
    return advice_set_is_sensible(advice, set) ? set : 0;
}
