#include "server/document/advice_document.h"

#include "analysis/advice/change.h"
#include "analysis/base/device_kinds.h"
#include "server/text/fields.h"

static const struct field dimension_fields[] = {
    FIELD("shape", struct advice_dimension, shape),
    FIELD("op_name", struct advice_dimension, op_name),
    FIELD("dimension", struct advice_dimension, dimension),
    FIELD("from", struct advice_dimension, from),
    FIELD("to", struct advice_dimension, to),
    FIELD("padded", struct advice_dimension, padded),
    FIELD_END,
};

static const struct field item_fields[] = {
    FIELD("predicted_peak_bytes", struct advice_item, predicted_peak_bytes),
    FIELD("saves_bytes", struct advice_item, saves_bytes),
    FIELD("changes_numerics", struct advice_item, changes_numerics),
    FIELD("understood", struct advice_item, understood),
    FIELD_END,
};

static void write_holding_devices(const struct advice *advice, int64_t bytes, struct json_writer *w) {
    enum { NAMES_MAX = 64 };
    const char *names[NAMES_MAX];
    if ((!advice->is_for_tpu && !advice->is_for_gpu) || device_kind_count > NAMES_MAX) {
        json_write_text_key(w, "held_by", NULL);
        return;
    }
    size_t count = advice_holding_devices(advice, bytes, names);
    json_write_texts_key(w, "held_by", names, count);
}

static void write_usable_part(const struct advice *advice, struct json_writer *w) {
    json_key(w, "held_by_part");
    if (advice->is_for_tpu || advice->is_for_gpu)
        json_write_double(w, advice->is_for_gpu ? DEVICE_GPU_PART : 1);
    else
        json_write_null(w);
}

void advice_holding_json_write(const struct advice *advice, struct json_writer *w) {
    write_holding_devices(advice, advice->total_bytes, w);
    write_usable_part(advice, w);
}

static const struct change *change_of(enum advice_id id) {
    return change_find(bytes_of(advice_id_name(id)));
}

const char *advice_name(const struct advice_item *item) {
    return item->name ? item->name : change_of(item->id)->name;
}

const char *advice_code(const struct advice_item *item) {
    return item->code ? item->code : change_of(item->id)->how;
}

const char *advice_step_name(const struct advice_step *step) {
    return step->name ? step->name : change_of(step->id)->name;
}

const char *advice_step_code(const struct advice_step *step) {
    return step->code ? step->code : change_of(step->id)->how;
}

const char *advice_fit_name(int64_t low_bytes, int64_t high_bytes, int64_t capacity_bytes) {
    static const char *const names[] = {[ADVICE_FIT_UNKNOWN] = NULL,
                                        [ADVICE_FITS] = "fits",
                                        [ADVICE_MAY_FIT] = "may_fit",
                                        [ADVICE_TOO_BIG] = "too_big"};
    return names[advice_fit_of(low_bytes, high_bytes, capacity_bytes)];
}

const char *advice_item_fit_name(const struct advice_item *item, int64_t capacity_bytes) {
    return item->cannot_tell ? NULL : advice_fit_name(item->low_bytes, item->high_bytes, capacity_bytes);
}

const char *advice_kind_name(enum advice_kind kind) {
    static const char *const names[] = {[ADVICE_PLAN] = "plan",
                                        [ADVICE_WITHOUT_SHARDING] = "without_sharding",
                                        [ADVICE_SAME_NUMERICS] = "same_numerics",
                                        [ADVICE_SAME_SPEED] = "same_speed",
                                        [ADVICE_FEWER_CHANGES] = "fewer_changes",
                                        [ADVICE_CHEAPER] = "cheaper",
                                        [ADVICE_MORE_ROOM] = "more_room"};
    return names[kind];
}

// What plans may take instead: more of them.
static void write_other_parts(const struct advice *advice, struct json_writer *w) {
    json_open_array_key(w, "other_parts");
    for (int id = ADVICE_MICRO_BATCH_TWICE; id <= ADVICE_MICRO_BATCH_FOUR_TIMES; id++) {
        const struct advice_item *other = &advice->items[id];
        if (!other->applies) continue;
        json_open_object(w);
        json_write_int64_key(w, "parts", other->parts);
        json_write_int64_key(w, "predicted_total_bytes", other->predicted_total_bytes);
        json_write_int64_key(w, "low_bytes", other->low_bytes);
        json_write_int64_key(w, "high_bytes", other->high_bytes);
        json_write_text_key(w, "fit", advice_item_fit_name(other, advice->capacity_bytes));
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_item(const struct advice *advice, enum advice_id id, struct json_writer *w) {
    const struct advice_item *item = &advice->items[id];
    json_open_object(w);
    json_write_text_key(w, "id", advice_id_name(item->id));
    json_write_bool_key(w, "applies", item->applies);
    if (item->ways) json_write_int64_key(w, "ways", item->ways);
    if (item->parts) json_write_int64_key(w, "parts", item->parts);
    json_write_known_key(w, "predicted_total_bytes", !item->cannot_tell, item->predicted_total_bytes);
    if (item->followed_total_bytes) json_write_int64_key(w, "followed_total_bytes", item->followed_total_bytes);
    if (item->followed_high_bytes) json_write_int64_key(w, "followed_high_bytes", item->followed_high_bytes);
    if (item->kept_low_bytes) json_write_int64_key(w, "kept_low_bytes", item->kept_low_bytes);
    fields_write(w, item_fields, item);
    json_write_known_key(w, "low_bytes", !item->cannot_tell, item->low_bytes);
    json_write_known_key(w, "high_bytes", !item->cannot_tell, item->high_bytes);
    if (item->has_dimension) {
        fields_write_object_key(w, "dimension", dimension_fields, &item->dimension);
        json_write_int64_key(w, "from", item->dimension.from);
        json_write_int64_key(w, "to", item->dimension.to);
    }
    json_write_texts_key(w, "evidence", item->evidence, item->evidence_count);
    json_write_text_key(w, "how", item->how);
    json_write_text_key(w, "name", advice_name(item));
    json_write_text_key(w, "code", advice_code(item));
    json_write_text_key(w, "fit", advice_item_fit_name(item, advice->capacity_bytes));
    if (id == ADVICE_MICRO_BATCH) write_other_parts(advice, w);
    json_close_object(w);
}

static const struct field step_fields[] = {
    FIELD("predicted_total_bytes", struct advice_step, predicted_total_bytes),
    FIELD("low_bytes", struct advice_step, low_bytes),
    FIELD("high_bytes", struct advice_step, high_bytes),
    FIELD("saves_bytes", struct advice_step, saves_bytes),
    FIELD_END,
};

static const struct field cost_fields[] = {
    FIELD("numerics", struct advice_cost, numerics),
    FIELD("speed", struct advice_cost, speed),
    FIELD("work", struct advice_cost, work),
    FIELD("chips", struct advice_cost, chips),
    FIELD_END,
};

static void write_step(const struct advice_step *step, struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "id", advice_id_name(step->id));
    json_write_text_key(w, "name", advice_step_name(step));
    if (step->parts) json_write_int64_key(w, "parts", step->parts);
    fields_write(w, step_fields, step);
    json_write_text_key(w, "code", advice_step_code(step));
    json_close_object(w);
}

// What a plan and a chain have in common.
static void write_set(const struct advice_plan *plan, int64_t capacity_bytes, struct json_writer *w) {
    const char *ids[ADVICE_CHANGE_COUNT], *names[ADVICE_CHANGE_COUNT];
    for (size_t i = 0; i < plan->count; i++) {
        ids[i] = advice_id_name(plan->steps[i].id);
        names[i] = advice_step_name(&plan->steps[i]);
    }
    json_write_texts_key(w, "interventions", ids, plan->count);
    json_write_int64_key(w, "predicted_total_bytes", plan->predicted_total_bytes);
    json_write_int64_key(w, "low_bytes", plan->low_bytes);
    json_write_int64_key(w, "high_bytes", plan->high_bytes);
    if (plan->kept_low_bytes) json_write_int64_key(w, "kept_low_bytes", plan->kept_low_bytes);
    json_write_text_key(w, "fit", advice_fit_name(plan->low_bytes, plan->high_bytes, capacity_bytes));
    json_write_texts_key(w, "names", names, plan->count);
    json_write_known_key(w, "ways", plan->ways > 0, plan->ways);
    fields_write_object_key(w, "cost", cost_fields, &plan->cost);
    json_open_array_key(w, "steps");
    for (size_t i = 0; i < plan->count; i++) write_step(&plan->steps[i], w);
    json_close_array(w);
}

static void write_plan_members(const struct advice_plan *plan, int64_t capacity_bytes, struct json_writer *w) {
    json_write_bool_key(w, "is_needed", plan->is_needed);
    json_write_bool_key(w, "fits", plan->fits);
    write_set(plan, capacity_bytes, w);
}

static void write_plan(const char *key, const struct advice_plan *plan, int64_t capacity_bytes, struct json_writer *w) {
    json_open_object_key(w, key);
    write_plan_members(plan, capacity_bytes, w);
    json_close_object(w);
}

static void write_alternatives(const struct advice *advice, struct json_writer *w) {
    json_open_array_key(w, "alternatives");
    for (size_t i = 0; i < advice->alternative_count; i++) {
        json_open_object(w);
        json_write_text_key(w, "kind", advice_kind_name(advice->alternatives[i].kind));
        write_plan_members(&advice->alternatives[i], advice->capacity_bytes, w);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_nearest(const struct advice *advice, struct json_writer *w) {
    const struct advice_plan *nearest = &advice->nearest;
    if (!nearest->count) {
        json_write_text_key(w, "nearest", NULL);
        return;
    }
    json_open_object_key(w, "nearest");
    write_plan_members(nearest, advice->capacity_bytes, w);
    json_write_int64_key(w, "over_bytes", nearest->predicted_total_bytes - advice->capacity_bytes);
    write_holding_devices(advice, nearest->high_bytes, w);
    json_close_object(w);
}

static void write_least_ways(const struct advice *advice, struct json_writer *w) {
    if (!advice->least_ways) {
        json_write_text_key(w, "least_ways", NULL);
        return;
    }
    json_open_object_key(w, "least_ways");
    json_write_int64_key(w, "ways", advice->least_ways);
    json_write_int64_key(w, "predicted_total_bytes", advice->least_ways_bytes);
    json_write_text_key(w, "basis", "reasoned");
    json_close_object(w);
}

void advice_plan_json_write(const struct advice *advice, struct json_writer *w) {
    write_plan("plan", &advice->plan, advice->capacity_bytes, w);
    if (advice->without_sharding.count)
        write_plan("plan_without_sharding", &advice->without_sharding, advice->capacity_bytes, w);
    else
        json_write_text_key(w, "plan_without_sharding", NULL);
    write_alternatives(advice, w);
    write_nearest(advice, w);
    write_least_ways(advice, w);
}

static void write_chains(const struct advice *advice, struct json_writer *w) {
    json_open_array_key(w, "chains");
    for (size_t i = 0; i < advice->chain_count; i++) {
        json_open_object(w);
        write_set(&advice->chains[i], advice->capacity_bytes, w);
        json_close_object(w);
    }
    json_close_array(w);
}

void advice_json_write(const struct advice_document *document, struct json_writer *w) {
    static const char *const not_counted[] = {"the program's own code", "what the runtime reserves for itself"};
    const struct advice *advice = document->advice;
    json_open_object(w);
    if (document->session) json_write_text_key(w, "session", document->session);
    if (document->host) json_write_text_key(w, "host", document->host);
    json_write_text_key(w, "module", document->module);
    json_write_known_key(w, "capacity_bytes", advice->capacity_bytes > 0, advice->capacity_bytes);
    json_write_int64_key(w, "total_bytes", advice->total_bytes);
    json_write_int64_key(w, "peak_bytes", advice->peak_bytes);
    json_write_known_key(w, "batch", advice->told_batch > 0, advice->told_batch);
    json_write_known_key(w, "sequence", advice->sequence > 0, advice->sequence);
    json_write_bool_key(w, "is_training", advice->is_training);
    advice_holding_json_write(advice, w);
    json_write_texts_key(w, "not_counted", not_counted, sizeof not_counted / sizeof *not_counted);
    json_open_array_key(w, "interventions");
    for (int id = 0; id < ADVICE_ID_COUNT; id++) write_item(advice, (enum advice_id)id, w);
    json_close_array(w);
    write_chains(advice, w);
    if (advice->capacity_bytes > 0) advice_plan_json_write(advice, w);
    json_close_object(w);
}
