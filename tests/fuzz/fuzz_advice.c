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
    assert(item->saves_bytes == advice->total_bytes - item->predicted_total_bytes);
    if (item->predicted_total_bytes < 0) return;
    assert(item->low_bytes <= item->predicted_total_bytes + 1 && item->high_bytes >= item->predicted_total_bytes - 1);
    assert((double)(item->high_bytes - item->low_bytes) <= 0.301 * (double)item->predicted_total_bytes + 2);
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
    for (int id = 0; id < ADVICE_ID_COUNT; id++) check_item(advice, &advice->items[id]);
    assert(advice->plan.count <= ADVICE_ID_COUNT);
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
