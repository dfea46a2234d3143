#include "analysis/advice/advise.h"

#include "analysis/advice/advise_together.h"
#include "analysis/advice/change_code.h"
#include "analysis/advice/data_kind.h"
#include "analysis/advice/first_use.h"
#include "analysis/advice/loop_steps.h"
#include "analysis/advice/near_capacity.h"
#include "analysis/advice/untrained.h"
#include "analysis/hlo/parameter_sharding.h"
#include "analysis/program/callers.h"
#include "analysis/program/graph_walk.h"
#include "analysis/program/op_name.h"

typedef bool advise(struct advisor *advisor, struct advice_item *item);

static const struct {
    const char *name;
    advise *make;
} interventions[ADVICE_CHANGE_COUNT] = {
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
    [ADVICE_REMATERIALIZE_DOTS] = {"rematerialize_dots", advise_rematerialization_but_products},
    [ADVICE_INT8_WEIGHTS] = {"int8_weights", advise_int8_weights},
    [ADVICE_MICRO_BATCH] = {"micro_batch", advise_micro_batch},
    [ADVICE_MICRO_BATCH_TWICE] = {"micro_batch", advise_micro_batch},
    [ADVICE_MICRO_BATCH_FOUR_TIMES] = {"micro_batch", advise_micro_batch},
    [ADVICE_HALVE_SEQUENCE] = {"halve_sequence", advise_sequence},
};

const char *advice_id_name(enum advice_id id) {
    return interventions[id].name;
}

static bool has_convolutions(const struct program_graph *graph) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct bytes primitive = op_name_primitive(graph->nodes[i].op_name);
        if (bytes_contains(primitive, BYTES("conv_general_dilated")) || bytes_contains(primitive, BYTES("Conv2D")))
            return true;
    }
    return false;
}

static bool read_program(struct advisor *advisor) {
    struct arena *arena = advisor->arena;
    struct error *error = advisor->error;
    const struct hlo_module *module = advisor->module;
    if (!program_graph_read(module, arena, &advisor->graph, error)) return false;
    if (!graph_walk_make(&advisor->graph, arena))
        return error_set(error, ERROR_TOO_BIG, "no memory left to walk this program");
    struct target target = target_of(module, &advisor->graph);
    advisor->is_for_gpu = target.is_gpu;
    advisor->is_for_tpu = target.is_tpu;
    if (!what_if_init(&advisor->what_if, module, &target, &advisor->graph, arena, error)) return false;
    advisor->has_convolutions = has_convolutions(&advisor->graph);
    advisor->module = advisor->graph.module = &advisor->what_if.residents.module;
    if (!program_roles_find(&advisor->graph, advisor->request.batch, arena, &advisor->roles, &advisor->batch, error))
        return false;
    if ((advisor->caller = callers_find(&advisor->graph, arena)) &&
        schedule_read(&advisor->graph, arena, &advisor->schedule) &&
        loop_steps_find(&advisor->graph, arena, &advisor->steps) &&
        (advisor->is_stacking = loop_steps_stacking(&advisor->steps, &advisor->batch, arena)) &&
        type_flow_run(&advisor->graph, &advisor->roles, &advisor->batch, arena, &advisor->types) &&
        phases_find(&advisor->graph, &advisor->what_if.replay, arena, &advisor->phases) &&
        (advisor->first_use = first_use_find(advisor)) && untrained_find(advisor) &&
        (advisor->donations = donations_find(&advisor->graph, &advisor->roles, &advisor->phases, arena)) &&
        advisor_find_origins(advisor))
        return true;
    return error_set(error, ERROR_TOO_BIG, "no memory left for advice on this program");
}

static bool keep_name(struct advisor *advisor, struct advice *advice) {
    const char *name = arena_string(advisor->kept, advisor->module->name);
    advice->module_name = (struct bytes){(const uint8_t *)name, advisor->module->name.size};
    return name || error_set(advisor->error, ERROR_TOO_BIG, "no memory left for advice on this program");
}

// The second total, and the range around the first that goes with it, mean something where the second is less.
static void hold_followed(struct advice_item *item) {
    if (item->followed_total_bytes >= item->predicted_total_bytes) item->followed_total_bytes = 0;
    if (!item->followed_total_bytes) item->kept_low_bytes = item->followed_high_bytes = 0;
    if (item->followed_high_bytes > item->high_bytes) item->followed_high_bytes = item->high_bytes;
    if (!item->kept_low_bytes) return;
    if (item->kept_low_bytes < item->low_bytes) item->kept_low_bytes = item->low_bytes;
    if (item->kept_low_bytes > item->predicted_total_bytes) item->kept_low_bytes = item->predicted_total_bytes;
}

// A prediction that the buffers do not allow is put where they do, and says so where it matters.
static void hold_bounds(struct advisor *advisor, struct advice_item *item) {
    int64_t replayed = item->predicted_total_bytes;
    if (!item->applies) advisor->reach = (struct advice_reach){0};
    bool is_moved = advice_bounds_hold(&advisor->what_if, &advisor->reach, item);
    hold_followed(item);
    if (!is_moved) return;
    int64_t moved = item->predicted_total_bytes - replayed;
    if (item->applies && (moved < 0 ? -moved : moved) > advisor->what_if.total_bytes / ADVICE_WORTH_DIVISOR)
        advisor_say(
            advisor, item,
            "The replay leaves what the buffers allow: this change touches %s and adds %s at most, so the total "
            "is told at that bound.",
            size_string(item->touched_bytes, advisor->arena), size_string(item->added_bytes, advisor->arena));
}

static const char *why_untold(const struct advisor *advisor) {
    const struct advice_doubt *doubt = &advisor->doubt;
    return arena_printf(
        advisor->kept, "Cannot tell from this program: of %s that this is about, what %s is cannot be seen. %s",
        size_string(what_if_bytes(doubt->population_bytes), advisor->arena),
        size_string(what_if_bytes(understanding_unknown_bytes(doubt)), advisor->arena), doubt->help ? doubt->help : "");
}

static const char *why_too_wide(const struct advisor *advisor, const struct advice_item *item) {
    return arena_printf(advisor->kept,
                        "Cannot tell from this program: anything from %s to %s is possible. Compile it so to know.",
                        size_string(item->low_bytes, advisor->arena), size_string(item->high_bytes, advisor->arena));
}

static void withdraw(const struct advisor *advisor, const char *why, struct advice_item *item) {
    struct what_if_result now = advisor_now(advisor);
    item->applies = item->has_dimension = false;
    item->followed_total_bytes = item->followed_high_bytes = item->kept_low_bytes = 0;
    advisor_set_totals(advisor, &now, 0, 0, item);
    advisor_say_first(advisor, item, why ? why : "Cannot tell from this program.");
}

// The total may be the other one, where there is one: what a change brings at least in one of them is worth telling.
static int64_t most_saved(const struct advisor *advisor, const struct advice_item *item) {
    int64_t followed = item->followed_total_bytes;
    return followed ? advisor->what_if.total_bytes - followed : item->saves_bytes;
}

// A change that brings next to nothing is none. One that costs is told with what it costs.
static void withdraw_little(struct advisor *advisor, struct advice_item *item) {
    int64_t little = advisor->what_if.total_bytes / ADVICE_WORTH_DIVISOR, saved = most_saved(advisor, item);
    const struct what_if_result *told = &advisor->told[item->id];
    int64_t low = item->low_bytes, high = item->high_bytes, stays = item->stays_bytes;
    bool may_be_much = item->id == ADVICE_HOST_OFFLOAD_OPTIMIZER ||
                       (item->id == ADVICE_DONATE_INPUTS && told->back_bytes + told->out_bytes > little);
    if (!item->applies || saved <= -little || saved >= little) return;
    const char *why = saved <= 0
                          ? "It would save nothing."
                          : arena_printf(advisor->arena, "It would save %s, less than a thousandth of the total.",
                                         size_string(saved, advisor->arena));
    withdraw(advisor, why ? why : "It would save next to nothing.", item);
    advice_widen(item, ADVICE_NO_USE_OFF, ADVICE_NO_USE_OFF);
    hold_bounds(advisor, item);
    if (!may_be_much) return;
    item->stays_bytes = stays;
    if (low < item->low_bytes) item->low_bytes = low;
    if (high > item->high_bytes) item->high_bytes = high;
}

static void tell_back_from_outputs(struct advisor *advisor, struct advice_item *item) {
    int64_t limit = advisor->what_if.short_bytes;
    if (!item->applies || item->saves_bytes >= 0 || !limit || item->predicted_total_bytes > limit) return;
    advisor_say(advisor, item,
                "Memory is short today, so that temporary arrays lie in outputs until these are written. It would not "
                "be then, and the compiler gives them room of their own.");
}

// What today's packing wastes between temporaries, where that is much, need not be wasted when they are packed anew.
static void widen_by_waste(const struct advisor *advisor, struct advice_item *item) {
    enum { MUCH_DIVISOR = 50 };
    int64_t width = what_if_bytes(ADVICE_RANGE_MAX * (double)item->predicted_total_bytes);
    int64_t least = item->high_bytes - width, waste = advisor->what_if.temporaries.wasted_bytes;
    int64_t low = item->low_bytes - (waste > advisor->what_if.total_bytes / MUCH_DIVISOR ? waste : 0);
    bool is_of_arguments = item->id == ADVICE_DONATE_INPUTS || item->id == ADVICE_HOST_OFFLOAD_OPTIMIZER;
    bool is_packed_anew = item->applies && !is_of_arguments && item->high_bytes > item->low_bytes;
    if (low < least) low = least;
    if (low < item->stays_bytes) low = item->stays_bytes;
    if (!is_packed_anew || low >= item->low_bytes) return;
    int64_t kept_low = item->kept_low_bytes - (item->low_bytes - low);
    if (item->kept_low_bytes) item->kept_low_bytes = kept_low > low ? kept_low : low;
    item->low_bytes = low;
}

static bool make_item(struct advisor *advisor, enum advice_id id, struct advice_item *item) {
    item->id = id;
    advisor->reach = (struct advice_reach){0};
    advisor->doubt = (struct advice_doubt){0};
    if (!interventions[id].make(advisor, item)) return false;
    hold_bounds(advisor, item);
    widen_by_waste(advisor, item);
    near_capacity_widen(advisor, item);
    enum understood understood = understanding_judge(&advisor->what_if, &advisor->doubt, item);
    if (understood == UNDERSTOOD_TOO_LITTLE) withdraw(advisor, why_untold(advisor), item);
    if (understood == UNDERSTOOD_TOO_WIDELY) withdraw(advisor, why_too_wide(advisor, item), item);
    withdraw_little(advisor, item);
    tell_back_from_outputs(advisor, item);
    item->name = change_name_of(advisor, item);
    item->code = change_code_of(advisor, item);
    return true;
}

// Are batch and sequence one number of one input? Unless it is of words, they may be the sides of a picture, or of
// features.
static bool is_square(const struct advisor *advisor) {
    const struct program_roles *roles = &advisor->roles;
    uint32_t leaf = roles->batch_input == HLO_NONE ? HLO_NONE : roles->inputs[roles->batch_input].leaf;
    const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
    int count = 0;
    for (int d = 0; shape && array_is(shape) && d < shape->rank; d++) count += shape->dimensions[d] == roles->batch;
    return advisor->sequence == roles->batch && count > 1 && !data_kind_is_words(shape);
}

// Nobody is told a batch that no input has, the edges of a graph, or what may be another quantity.
static void tell_dimensions(const struct advisor *advisor, struct advice *advice) {
    const struct program_roles *roles = &advisor->roles;
    bool is_doubted = is_square(advisor), is_one_graph = roles->is_graph && !roles->graphs;
    bool has_batch = dimension_flow_has_marks(&advisor->batch) && !is_one_graph;
    if (has_batch && (roles->is_batch_told || !is_doubted)) advice->told_batch = program_roles_examples(roles);
    if (advisor->request.sequence || !is_doubted) advice->sequence = advisor->sequence;
}

static bool make(struct advisor *advisor, struct advice *advice) {
    const struct hlo_module *module = advisor->module;
    if (!read_program(advisor)) return false;
    near_capacity_find(advisor);
    advisor->at_peak = understanding_of_peak(&advisor->what_if, &advisor->graph, &advisor->roles, &advisor->batch);
    *advice = (struct advice){.total_bytes = advisor->what_if.total_bytes,
                              .peak_bytes = advisor->what_if.peak_bytes,
                              .indefinite_bytes = advisor->what_if.indefinite_bytes,
                              .batch = advisor->roles.is_one_example ? 1 : advisor->roles.batch,
                              .ways = advisor->request.ways,
                              .partitions = partition_count(module),
                              .is_training = advisor->roles.is_training,
                              .is_for_tpu = advisor->is_for_tpu,
                              .is_for_gpu = advisor->is_for_gpu};
    advisor->told = arena_new(advisor->arena, struct what_if_result, ADVICE_CHANGE_COUNT);
    if (!advisor->told || !keep_name(advisor, advice)) return false;
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        if (!make_item(advisor, (enum advice_id)id, &advice->items[id])) return false;
    }
    tell_dimensions(advisor, advice);
    if (!advise_together(advisor, advice)) return false;
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
