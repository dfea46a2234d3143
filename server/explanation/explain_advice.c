#include "server/explanation/explain_advice.h"

#include <string.h>

static const struct advice_item *item_of(const struct advice *advice, const char *id) {
    for (int i = 0; i < ADVICE_ID_COUNT; i++) {
        if (strcmp(advice_id_name((enum advice_id)i), id) == 0) return &advice->items[i];
    }
    return NULL;
}

static void add_figures(const struct advice *advice, struct oom_diagnosis *diagnosis) {
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        struct oom_fix *fix = &diagnosis->fixes[i];
        const struct advice_item *item = item_of(advice, fix->id);
        if (fix->saves_bytes < 0 && item && item->applies && item->saves_bytes > 0)
            fix->saves_bytes = item->saves_bytes;
    }
}

// Insertion, because few and in order of likelihood where nothing is known.
static void sort_by_saving(struct oom_diagnosis *diagnosis) {
    for (size_t i = 1; i < diagnosis->fix_count; i++) {
        struct oom_fix fix = diagnosis->fixes[i];
        size_t at = i;
        for (; at > 0 && diagnosis->fixes[at - 1].saves_bytes < fix.saves_bytes; at--)
            diagnosis->fixes[at] = diagnosis->fixes[at - 1];
        diagnosis->fixes[at] = fix;
    }
}

const struct advice *explain_advice_add(struct work *work, const struct hlo_module *module, int64_t capacity_bytes,
                                        struct oom_diagnosis *diagnosis) {
    struct advice_request request = {.capacity_bytes = capacity_bytes > 0 ? capacity_bytes : 0,
                                     .ways = ADVICE_WAYS_DEFAULT};
    struct advice *advice = arena_new(&work->arena, struct advice, 1);
    struct error ignored;
    if (!advice || !advice_make(module, &request, &work->arena, advice, &ignored)) return NULL;
    add_figures(advice, diagnosis);
    sort_by_saving(diagnosis);
    return advice;
}
