#include "server/document/advice_document.h"

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

static void write_item(const struct advice_item *item, struct json_writer *w) {
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
    json_close_object(w);
}

void advice_plan_json_write(const struct advice_plan *plan, struct json_writer *w) {
    const char *ids[ADVICE_ID_COUNT];
    for (size_t i = 0; i < plan->count; i++) ids[i] = advice_id_name(plan->ids[i]);
    json_open_object_key(w, "plan");
    json_write_bool_key(w, "is_needed", plan->is_needed);
    json_write_bool_key(w, "fits", plan->fits);
    json_write_texts_key(w, "interventions", ids, plan->count);
    json_write_int64_key(w, "predicted_total_bytes", plan->predicted_total_bytes);
    json_close_object(w);
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
    for (int id = 0; id < ADVICE_ID_COUNT; id++) write_item(&advice->items[id], w);
    json_close_array(w);
    if (advice->capacity_bytes > 0) advice_plan_json_write(&advice->plan, w);
    json_close_object(w);
}
