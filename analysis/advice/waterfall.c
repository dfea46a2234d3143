#include "analysis/advice/waterfall.h"

#include "analysis/advice/advice_cost.h"

// The change of the set that costs least; of equal ones the first.
static enum advice_id cheapest_of(const struct advice *advice, unsigned set) {
    int best = -1, least = 0;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        if (!advice_set_has(set, (enum advice_id)id)) continue;
        int points = advice_cost_points(advice_cost_of(advice, 1u << id));
        if (best < 0 || points < least) {
            best = id;
            least = points;
        }
    }
    return (enum advice_id)best;
}

static void add_step(const struct advice *advice, unsigned made, enum advice_id id, struct advice_plan *plan) {
    int64_t before = advice_set_total(advice, made), total = advice_set_total(advice, made | 1u << id);
    struct advice_range range = advice_set_range(advice, made | 1u << id);
    const struct advice_item *item = &advice->items[id];
    plan->steps[plan->count++] = (struct advice_step){.id = id,
                                                      .predicted_total_bytes = total,
                                                      .low_bytes = range.low_bytes,
                                                      .high_bytes = range.high_bytes,
                                                      .saves_bytes = before - total,
                                                      .parts = item->parts,
                                                      .name = item->name,
                                                      .code = item->code};
    if (item->ways) plan->ways = item->ways;
}

struct advice_plan waterfall_of(const struct advice *advice, unsigned set, enum advice_kind kind) {
    struct advice_range range = advice_set_range(advice, set);
    struct advice_plan plan = {.kind = kind,
                               .cost = advice_cost_of(advice, set),
                               .predicted_total_bytes = advice_set_total(advice, set),
                               .low_bytes = range.low_bytes,
                               .high_bytes = range.high_bytes,
                               .kept_low_bytes = range.kept_low_bytes};
    for (unsigned made = 0; made != set; made |= 1u << plan.steps[plan.count - 1].id)
        add_step(advice, made, cheapest_of(advice, set & ~made), &plan);
    return plan;
}
