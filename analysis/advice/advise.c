#include "analysis/advice/advise.h"

#include "analysis/advice/advisor.h"

typedef bool advise(struct advisor *advisor, struct advice_item *item);

static const struct {
    const char *name;
    advise *make;
} interventions[ADVICE_ID_COUNT] = {
    [ADVICE_DONATE_INPUTS] = {"donate_inputs", advise_donation},
    [ADVICE_HALVE_BATCH] = {"halve_batch", advise_batch},
    [ADVICE_BF16_PARAMETERS] = {"bf16_parameters", advise_bf16_parameters},
    [ADVICE_BF16_TEMPORARIES] = {"bf16_temporaries", advise_bf16_temporaries},
    [ADVICE_REMATERIALIZE] = {"rematerialize", advise_rematerialization},
    [ADVICE_SHARD_PARAMETERS] = {"shard_parameters", advise_shard_parameters},
    [ADVICE_SHARD_ALL] = {"shard_all", advise_shard_all},
    [ADVICE_ALIGN_DIMENSIONS] = {"align_dimensions", advise_alignment},
    [ADVICE_HOST_OFFLOAD_OPTIMIZER] = {"host_offload_optimizer", advise_offload_optimizer},
    [ADVICE_HOST_OFFLOAD_ACTIVATIONS] = {"host_offload_activations", advise_offload_activations},
    [ADVICE_REMOVE_DEBUG_PRINT] = {"remove_debug_print", advise_debug_print},
};

const char *advice_id_name(enum advice_id id) {
    return interventions[id].name;
}

static bool read_program(struct advisor *advisor) {
    struct arena *arena = advisor->arena;
    struct error *error = advisor->error;
    const struct hlo_module *module = advisor->module;
    if (!program_graph_read(module, arena, &advisor->graph, error) ||
        !what_if_init(&advisor->what_if, module, &advisor->graph, arena, error))
        return false;
    advisor->module = advisor->graph.module = &advisor->what_if.residents.module;
    if (!program_roles_find(&advisor->graph, advisor->request.batch, arena, &advisor->roles, &advisor->batch, error))
        return false;
    if (type_flow_run(&advisor->graph, &advisor->roles, &advisor->batch, arena, &advisor->types) &&
        phases_find(&advisor->graph, &advisor->what_if.replay, arena, &advisor->phases))
        return true;
    return error_set(error, ERROR_TOO_BIG, "no memory left for advice on this program");
}

// XLA's rematerialization names its copies so (hlo_rematerialization.cc).
static bool is_rematerialized(const struct hlo_module *module) {
    for (uint32_t i = 0; i < module->instruction_count; i++) {
        if (bytes_contains(hlo_instruction_read(module, i).name, BYTES(".remat"))) return true;
    }
    return false;
}

static bool keep_name(struct advisor *advisor, struct advice *advice) {
    const char *name = arena_string(advisor->kept, advisor->module->name);
    advice->module_name = (struct bytes){(const uint8_t *)name, advisor->module->name.size};
    return name || error_set(advisor->error, ERROR_TOO_BIG, "no memory left for advice on this program");
}

static bool make(struct advisor *advisor, struct advice *advice) {
    const struct hlo_module *module = advisor->module;
    if (!read_program(advisor)) return false;
    advisor->is_rematerialized = is_rematerialized(module);
    *advice = (struct advice){.total_bytes = advisor->what_if.total_bytes,
                              .peak_bytes = advisor->what_if.peak_bytes,
                              .indefinite_bytes = advisor->what_if.indefinite_bytes,
                              .batch = advisor->roles.batch,
                              .ways = advisor->request.ways,
                              .is_training = advisor->roles.is_training};
    if (!keep_name(advisor, advice)) return false;
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        advice->items[id].id = (enum advice_id)id;
        if (!interventions[id].make(advisor, &advice->items[id])) return false;
    }
    advice_plan_for(advice, advisor->request.capacity_bytes);
    return true;
}

bool advice_make(const struct hlo_module *module, const struct advice_request *request, struct arena *arena,
                 struct advice *advice, struct error *error) {
    struct arena scratch;
    struct advisor advisor = {.module = module, .arena = &scratch, .kept = arena, .request = *request, .error = error};
    if (advisor.request.ways < 2) advisor.request.ways = ADVICE_WAYS_DEFAULT;
    arena_init(&scratch, arena->limit_bytes);
    bool is_good = make(&advisor, advice);
    arena_free(&scratch);
    return is_good;
}
