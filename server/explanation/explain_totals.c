#include "server/explanation/explain_totals.h"

#include "analysis/oom/oom_message.h"

static const struct memory_totals absent = {.total_bytes = OOM_ABSENT};

static bool fill_totals(const struct filling *from, void *thing, struct error *error) {
    struct memory_totals_list totals;
    const struct hlo_module *module = from->of;
    *(struct memory_totals *)thing = absent;
    if (module->allocation_count == 0) return true;
    if (!memory_totals_list(module, from->arena, &totals, error)) return false;
    *(struct memory_totals *)thing = memory_totals_of(&totals, 0);
    return true;
}

static const struct stored_kind totals_kind = {.name = "hbm-totals",
                                               .thing_bytes = sizeof(struct memory_totals),
                                               .arena_limit_bytes = WORK_ARENA_LIMIT_BYTES,
                                               .is_derived = true,
                                               .fill = fill_totals};

bool explain_totals_of(struct work *work, const struct found_module *found, struct memory_totals *totals,
                       struct error *error) {
    const char *key = arena_printf(&work->arena, "%s %s", totals_kind.name, found->key);
    if (!key) return work_out_of_memory(error);
    const struct memory_totals *kept = file_store_peek(work, key);
    const struct hlo_module *module = kept ? NULL : module_store_load(work, found, error);
    if (module) kept = file_store_get(work, &totals_kind, key, found->file, module, error);
    *totals = kept ? *kept : absent;
    return kept != NULL;
}
