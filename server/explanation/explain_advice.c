#include "server/explanation/explain_advice.h"

#include "analysis/oom/oom_advised.h"

static bool fill_advice(const struct filling *from, void *thing, struct error *error) {
    struct advice_request request = {.ways = ADVICE_WAYS_DEFAULT};
    return advice_make(from->of, &request, from->arena, thing, error);
}

static const struct stored_kind advice_kind = {.name = "advice",
                                               .thing_bytes = sizeof(struct advice),
                                               .arena_limit_bytes = WORK_ARENA_LIMIT_BYTES,
                                               .is_derived = true,
                                               .fill = fill_advice};

bool explain_advice_of(struct work *work, const struct found_module *found, const struct advice **advice,
                       struct error *error) {
    const struct hlo_module *module = module_store_load(work, found, error);
    const char *key = arena_printf(&work->arena, "%s %s", advice_kind.name, found->key);
    *advice = NULL;
    if (!key) return work_out_of_memory(error);
    if (module) *advice = file_store_get(work, &advice_kind, key, found->file, module, error);
    return *advice || file_store_is_lasting(error);
}

const struct advice *explain_advice_add(const struct advice *advice, int64_t capacity_bytes, struct arena *arena,
                                        struct oom_diagnosis *diagnosis) {
    struct advice *planned = arena_new(arena, struct advice, 1);
    if (!planned) return NULL;
    *planned = *advice;
    advice_plan_for(planned, capacity_bytes > 0 ? capacity_bytes : 0);
    oom_fixes_advise(diagnosis, planned, arena);
    return planned;
}
