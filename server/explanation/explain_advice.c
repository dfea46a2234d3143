#include "server/explanation/explain_advice.h"

#include <string.h>

// --- The advice of a program ---

static bool fill_advice(const struct filling *from, void *thing, struct error *error) {
    struct advice_request request = {.ways = ADVICE_WAYS_DEFAULT};
    return advice_make(from->of, &request, from->arena, thing, error);
}

static const struct stored_kind advice_kind = {.name = "advice",
                                               .thing_bytes = sizeof(struct advice),
                                               .arena_limit_bytes = WORK_ARENA_LIMIT_BYTES,
                                               .is_derived = true,
                                               .fill = fill_advice};

const struct advice *explain_advice_of(struct work *work, const struct found_module *found) {
    struct error ignored;
    const struct hlo_module *module = module_store_load(work, found, &ignored);
    const char *key = arena_printf(&work->arena, "%s %s", advice_kind.name, found->key);
    return module && key ? file_store_get(work, &advice_kind, key, found->file, module, &ignored) : NULL;
}

// --- Its figures ---

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

const struct advice *explain_advice_add(const struct advice *advice, int64_t capacity_bytes, struct arena *arena,
                                        struct oom_diagnosis *diagnosis) {
    struct advice *planned = arena_new(arena, struct advice, 1);
    if (!planned) return NULL;
    *planned = *advice;
    advice_plan_for(planned, capacity_bytes > 0 ? capacity_bytes : 0);
    add_figures(planned, diagnosis);
    sort_by_saving(diagnosis);
    return planned;
}
