// Any bytes as an HloProto: advice ends in a result or an error, and a result keeps its promises.
//
//     make fuzz T=advice
#include <assert.h>

#include "analysis/advice/advise.h"
#include "analysis/hlo/hlo_load.h"

enum { ARENA_LIMIT_BYTES = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_item(const struct advice *advice, const struct advice_item *item) {
    assert(item->evidence_count > 0 && item->evidence_count <= ADVICE_EVIDENCE_MAX && item->how);
    assert(item->understood >= 0 && item->understood <= 1 && !(item->cannot_tell && item->applies));
    assert(item->saves_bytes == advice->total_bytes - item->predicted_total_bytes);
    assert(item->low_bytes <= item->predicted_total_bytes + 1 && item->high_bytes >= item->predicted_total_bytes - 1);
    assert(item->predicted_total_bytes >= advice->total_bytes - item->touched_bytes);
    assert(item->predicted_total_bytes <= advice->total_bytes + item->added_bytes);
    assert(!item->applies || item->low_bytes >= item->stays_bytes);
    assert(!item->followed_total_bytes || item->applies);
    assert(!item->followed_high_bytes || item->followed_total_bytes);
    assert(!item->followed_high_bytes || item->followed_high_bytes >= item->followed_total_bytes);
    assert(item->followed_high_bytes <= item->high_bytes);
    assert(!item->kept_low_bytes || item->followed_total_bytes);
    assert(item->kept_low_bytes <= item->predicted_total_bytes);
    assert(!item->kept_low_bytes || item->kept_low_bytes >= item->low_bytes);
    assert(!item->followed_total_bytes || item->followed_total_bytes < item->predicted_total_bytes);
}

// Each step goes on from the one before it, and the last is the plan.
static void check_plan(const struct advice *advice, const struct advice_plan *plan) {
    int64_t before = advice->total_bytes;
    assert(plan->count <= ADVICE_CHANGE_COUNT);
    for (size_t i = 0; i < plan->count; i++) {
        const struct advice_step *step = &plan->steps[i];
        assert(step->saves_bytes == before - step->predicted_total_bytes);
        assert(step->low_bytes <= step->predicted_total_bytes + 1);
        assert(step->high_bytes >= step->predicted_total_bytes - 1);
        before = step->predicted_total_bytes;
    }
    assert(before == plan->predicted_total_bytes);
    assert(!plan->kept_low_bytes ||
           (plan->low_bytes < plan->kept_low_bytes && plan->kept_low_bytes <= plan->predicted_total_bytes + 1));
}

static void check_nearest(const struct advice *advice) {
    if (advice->nearest.count) check_plan(advice, &advice->nearest);
    assert(!advice->nearest.count || advice->nearest.predicted_total_bytes > advice->capacity_bytes);
    assert(!advice->least_ways || (advice->least_ways >= 2 && advice->plan.is_needed));
    assert(advice->least_ways_bytes >= 0 && advice->least_ways_bytes <= advice->capacity_bytes);
}

static void advise(const struct hlo_module *module, struct arena *arena, size_t size, int64_t batch) {
    struct advice_request request = {.capacity_bytes = 1 << 20, .batch = batch, .ways = 3};
    struct advice *advice = arena_new(arena, struct advice, 1);
    struct error error = {0};
    if (!advice) return;
    if (!advice_make(module, &request, arena, advice, &error)) {
        assert(error.code != ERROR_NONE && error.message[0] && error.offset <= (int64_t)size);
        return;
    }
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) check_item(advice, &advice->items[id]);
    check_plan(advice, &advice->plan);
    check_nearest(advice);
    for (size_t i = 0; i < advice->alternative_count; i++) check_plan(advice, &advice->alternatives[i]);
    for (size_t i = 0; i < advice->chain_count; i++) check_plan(advice, &advice->chains[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct hlo_module module;
    struct error error = {0};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    if (hlo_module_load((struct bytes){data, size}, &arena, &module, &error)) {
        advise(&module, &arena, size, 0);
        advise(&module, &arena, size, 8);
    }
    arena_free(&arena);
    return 0;
}
