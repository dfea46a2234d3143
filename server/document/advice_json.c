#include "server/document/advice_document.h"

#include "analysis/advice/change.h"
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
    FIELD("predicted_total_bytes", struct advice_item, predicted_total_bytes),
    FIELD("predicted_peak_bytes", struct advice_item, predicted_peak_bytes),
    FIELD("saves_bytes", struct advice_item, saves_bytes),
    FIELD("low_bytes", struct advice_item, low_bytes),
    FIELD("high_bytes", struct advice_item, high_bytes),
    FIELD("changes_numerics", struct advice_item, changes_numerics),
    FIELD_END,
};

const struct change *advice_change(enum advice_id id) {
    return change_find(bytes_of(advice_id_name(id)));
}

const char *advice_fit_name(int64_t low_bytes, int64_t high_bytes, int64_t capacity_bytes) {
    static const char *const names[] = {[ADVICE_FIT_UNKNOWN] = NULL,
                                        [ADVICE_FITS] = "fits",
                                        [ADVICE_MAY_FIT] = "may_fit",
                                        [ADVICE_TOO_BIG] = "too_big"};
    return names[advice_fit_of(low_bytes, high_bytes, capacity_bytes)];
}

static void write_item(const struct advice_item *item, int64_t capacity_bytes, struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "id", advice_id_name(item->id));
    json_write_bool_key(w, "applies", item->applies);
    if (item->ways) json_write_int64_key(w, "ways", item->ways);
    fields_write(w, item_fields, item);
    if (item->has_dimension) {
        fields_write_object_key(w, "dimension", dimension_fields, &item->dimension);
        json_write_int64_key(w, "from", item->dimension.from);
        json_write_int64_key(w, "to", item->dimension.to);
    }
    json_write_texts_key(w, "evidence", item->evidence, item->evidence_count);
    json_write_text_key(w, "how", item->how);
    json_write_text_key(w, "name", advice_change(item->id)->name);
    json_write_text_key(w, "code", advice_change(item->id)->how);
    json_write_text_key(w, "fit", advice_fit_name(item->low_bytes, item->high_bytes, capacity_bytes));
    json_close_object(w);
}

static void write_plan(const char *key, const struct advice_plan *plan, int64_t capacity_bytes, struct json_writer *w) {
    const char *ids[ADVICE_ID_COUNT], *names[ADVICE_ID_COUNT];
    for (size_t i = 0; i < plan->count; i++) {
        ids[i] = advice_id_name(plan->ids[i]);
        names[i] = advice_change(plan->ids[i])->name;
    }
    json_open_object_key(w, key);
    json_write_bool_key(w, "is_needed", plan->is_needed);
    json_write_bool_key(w, "fits", plan->fits);
    json_write_texts_key(w, "interventions", ids, plan->count);
    json_write_int64_key(w, "predicted_total_bytes", plan->predicted_total_bytes);
    json_write_int64_key(w, "low_bytes", plan->low_bytes);
    json_write_int64_key(w, "high_bytes", plan->high_bytes);
    json_write_text_key(w, "fit", advice_fit_name(plan->low_bytes, plan->high_bytes, capacity_bytes));
    json_write_texts_key(w, "names", names, plan->count);
    json_write_known_key(w, "ways", plan->ways > 0, plan->ways);
    json_close_object(w);
}

void advice_plan_json_write(const struct advice *advice, struct json_writer *w) {
    write_plan("plan", &advice->plan, advice->capacity_bytes, w);
    if (advice->without_sharding.count)
        write_plan("plan_without_sharding", &advice->without_sharding, advice->capacity_bytes, w);
    else
        json_write_text_key(w, "plan_without_sharding", NULL);
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
    json_write_known_key(w, "batch", advice->batch > 0, advice->batch);
    json_write_bool_key(w, "is_training", advice->is_training);
    json_write_texts_key(w, "not_counted", not_counted, sizeof not_counted / sizeof *not_counted);
    json_open_array_key(w, "interventions");
    for (int id = 0; id < ADVICE_ID_COUNT; id++) write_item(&advice->items[id], advice->capacity_bytes, w);
    json_close_array(w);
    if (advice->capacity_bytes > 0) advice_plan_json_write(advice, w);
    json_close_object(w);
}
