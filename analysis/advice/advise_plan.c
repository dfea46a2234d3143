// The set of changes that fits the capacity, to be told as *the* plan, and what else there is.
//
//     sets whose whole range fits  --> the cheapest of them (advice_cost.h)              [9, 12]    capacity 15.75 -^
//     none                         --> the cheapest whose total fits                          [13, 15, 17]
//
// Costs add up, so the plan has no change that it does without; of equally cheap sets the one that leaves least. What
// changes leave together was replayed with all of them made (advise_together.h).
//
// An alternative has something over the plan (enum advice_kind), needs each of its changes as well, and is dominated by
// no other: whoever is not cheaper in some respect leaves less.
#include "analysis/advice/advice_cost.h"
#include "analysis/advice/advise_nearest.h"
#include "analysis/advice/waterfall.h"

enum { SHARDING = 1u << ADVICE_SHARD_ALL | 1u << ADVICE_SHARD_PARAMETERS };

struct wish {
    unsigned allowed;        // changes
    int count, points;       // so many changes, and such a cost, at most
    int64_t capacity_bytes;  // for the range or the total
    int64_t total_bytes;     // at most
    bool is_sure;            // the whole range is to fit
    bool is_least;           // and no part of the set does what it does
};

// --- One wish ---

static bool does_fit(const struct advice *advice, unsigned set, const struct wish *wish) {
    int64_t bytes = wish->is_sure ? advice_set_range(advice, set).high_bytes : advice_set_total(advice, set);
    return bytes <= wish->capacity_bytes;
}

static bool is_granted(const struct advice *advice, unsigned set, const struct wish *wish) {
    return !(set & ~wish->allowed) && advice_set_count(set) <= wish->count &&
           advice_set_total(advice, set) <= wish->total_bytes && does_fit(advice, set, wish);
}

static bool is_least(const struct advice *advice, unsigned set, const struct wish *wish) {
    for (unsigned part = (set - 1) & set; part; part = (part - 1) & set) {
        if (does_fit(advice, part, wish)) return false;
    }
    return true;
}

static bool is_better(const struct advice *advice, unsigned a, unsigned b) {
    int x = advice_cost_points(advice_cost_of(advice, a)), y = advice_cost_points(advice_cost_of(advice, b));
    return x != y ? x < y : advice_set_total(advice, a) < advice_set_total(advice, b);
}

// The cheapest set that grants the wish; 0 where none does.
static unsigned cheapest(const struct advice *advice, const struct wish *wish) {
    unsigned best = 0;
    for (size_t i = 0; i < advice_set_known_count(advice); i++) {
        unsigned set = advice_set_known(advice, i);
        if (!set || (best && !is_better(advice, set, best)) || !is_granted(advice, set, wish)) continue;
        if (advice_cost_points(advice_cost_of(advice, set)) > wish->points) continue;
        if (!wish->is_least || is_least(advice, set, wish)) best = set;
    }
    return best;
}

static struct wish wish_within(const struct advice *advice, unsigned allowed) {
    return (struct wish){.allowed = allowed,
                         .count = ADVICE_CHANGE_COUNT,
                         .points = INT32_MAX,
                         .capacity_bytes = advice->capacity_bytes,
                         .total_bytes = INT64_MAX,
                         .is_sure = true};
}

// Surely, or else by its total.
static unsigned surest(const struct advice *advice, struct wish wish) {
    unsigned set = cheapest(advice, &wish);
    wish.is_sure = false;
    return set ? set : cheapest(advice, &wish);
}

// --- The plan ---

static struct advice_plan plan_of(const struct advice *advice, unsigned set, enum advice_kind kind) {
    struct advice_plan plan = waterfall_of(advice, set, kind);
    plan.is_needed = plan.fits = true;
    return plan;
}

static bool is_sure(const struct advice *advice, const struct advice_plan *plan) {
    return plan->high_bytes <= advice->capacity_bytes;
}

// --- Beside it ---

// A twentieth of the capacity less is worth another plan.
static struct wish wish_for_room(const struct advice *advice) {
    enum { WORTH_DIVISOR = 20 };
    struct wish wish = wish_within(advice, ADVICE_ALL);
    wish.total_bytes = advice->plan.predicted_total_bytes - advice->capacity_bytes / WORTH_DIVISOR;
    wish.is_sure = is_sure(advice, &advice->plan);
    wish.is_least = true;
    return wish;
}

// 0 where the plan itself is of that kind, or nothing else is.
static unsigned find_kind(const struct advice *advice, enum advice_kind kind) {
    const struct advice_plan *plan = &advice->plan;
    struct wish fewer = wish_within(advice, ADVICE_ALL), gentler = fewer, room = wish_for_room(advice);
    fewer.count = (int)plan->count - 1;
    gentler.points = advice_cost_points(plan->cost) - 1;
    gentler.is_sure = false;
    switch (kind) {
        case ADVICE_WITHOUT_SHARDING:
            return plan->ways ? surest(advice, wish_within(advice, ADVICE_ALL & ~(unsigned)SHARDING)) : 0;
        case ADVICE_SAME_NUMERICS:
            return plan->cost.numerics ? surest(advice, wish_within(advice, advice_sets_of_same_numerics())) : 0;
        case ADVICE_SAME_SPEED:
            return plan->cost.speed ? surest(advice, wish_within(advice, advice_sets_of_same_speed())) : 0;
        case ADVICE_FEWER_CHANGES:
            return surest(advice, fewer);
        case ADVICE_CHEAPER:
            return cheapest(advice, &gentler);
        case ADVICE_MORE_ROOM:
            return cheapest(advice, &room);
        case ADVICE_PLAN:
            break;
    }
    return 0;
}

// Is `a` no better than `b` in any respect?
static bool is_dominated(const struct advice *advice, const struct advice_plan *a, const struct advice_plan *b) {
    return is_sure(advice, a) <= is_sure(advice, b) && a->cost.numerics >= b->cost.numerics &&
           a->cost.speed >= b->cost.speed && a->cost.work >= b->cost.work && a->cost.chips >= b->cost.chips &&
           a->predicted_total_bytes >= b->predicted_total_bytes;
}

static bool is_worth_telling(const struct advice *advice, const struct advice_plan *other) {
    if (is_dominated(advice, other, &advice->plan)) return false;
    for (size_t i = 0; i < advice->alternative_count; i++) {
        const struct advice_plan *told = &advice->alternatives[i];
        if (is_dominated(advice, other, told) || is_dominated(advice, told, other)) return false;
    }
    return true;
}

static void find_alternatives(struct advice *advice) {
    for (int kind = ADVICE_PLAN + 1; kind <= ADVICE_MORE_ROOM; kind++) {
        unsigned set = find_kind(advice, (enum advice_kind)kind);
        if (!set || advice->alternative_count == ADVICE_ALTERNATIVES_MAX) continue;
        struct advice_plan other = plan_of(advice, set, (enum advice_kind)kind);
        if (kind == ADVICE_WITHOUT_SHARDING) advice->without_sharding = other;
        if (is_worth_telling(advice, &other)) advice->alternatives[advice->alternative_count++] = other;
    }
}

// --- Whatever fits ---

static void find_chains(struct advice *advice) {
    static const unsigned often[ADVICE_CHAINS_MAX] = {
        1u << ADVICE_DONATE_INPUTS | 1u << ADVICE_REMATERIALIZE,
        1u << ADVICE_DONATE_INPUTS | 1u << ADVICE_HALVE_BATCH,
        1u << ADVICE_BF16_PARAMETERS | 1u << ADVICE_HALVE_BATCH,
        1u << ADVICE_BF16_TEMPORARIES | 1u << ADVICE_HALVE_BATCH,
    };
    for (int i = 0; i < ADVICE_CHAINS_MAX; i++) {
        if (advice_set_is_sensible(advice, often[i]) && advice_set_total(advice, often[i]) < INT64_MAX)
            advice->chains[advice->chain_count++] = waterfall_of(advice, often[i], ADVICE_PLAN);
    }
}

static struct advice_plan without_changes(const struct advice *advice) {
    return (struct advice_plan){.predicted_total_bytes = advice->total_bytes,
                                .low_bytes = advice->total_bytes,
                                .high_bytes = advice->total_bytes,
                                .fits = advice->capacity_bytes > 0 && advice->total_bytes <= advice->capacity_bytes};
}

void advice_plan_for(struct advice *advice, int64_t capacity_bytes) {
    advice->capacity_bytes = capacity_bytes;
    advice->without_sharding = (struct advice_plan){0};
    advice->alternative_count = advice->chain_count = 0;
    advice->plan = without_changes(advice);
    advice->plan.is_needed = capacity_bytes > 0 && !advice->plan.fits;
    find_chains(advice);
    unsigned set = advice->plan.is_needed ? surest(advice, wish_within(advice, ADVICE_ALL)) : 0;
    if (set) advice->plan = plan_of(advice, set, ADVICE_PLAN);
    if (set) find_alternatives(advice);
    advice_nearest_find(advice);
}
