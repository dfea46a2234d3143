#include "server/document/advice_json.h"

static void write_texts(struct json_writer *w, const char *key, const char *const *texts, size_t count) {
    json_key(w, key);
    json_open_array(w);
    for (size_t i = 0; i < count; i++) json_write_text(w, texts[i]);
    json_close_array(w);
}

static void write_dimension(const struct advice_dimension *dimension, struct json_writer *w) {
    json_key(w, "dimension");
    json_open_object(w);
    json_write_text_key(w, "shape", dimension->shape);
    json_write_text_key(w, "op_name", dimension->op_name);
    json_write_int64_key(w, "dimension", dimension->dimension);
    json_write_int64_key(w, "from", dimension->from);
    json_write_int64_key(w, "to", dimension->to);
    json_write_int64_key(w, "padded", dimension->padded);
    json_close_object(w);
}

static void write_item(const struct advice_item *item, struct json_writer *w) {
    json_open_object(w);
    json_write_text_key(w, "id", advice_id_name(item->id));
    json_write_bool_key(w, "applies", item->applies);
    if (item->ways) json_write_int64_key(w, "ways", item->ways);
    json_write_int64_key(w, "predicted_total_bytes", item->predicted_total_bytes);
    json_write_int64_key(w, "predicted_peak_bytes", item->predicted_peak_bytes);
    json_write_int64_key(w, "saves_bytes", item->saves_bytes);
    json_write_int64_key(w, "low_bytes", item->low_bytes);
    json_write_int64_key(w, "high_bytes", item->high_bytes);
    json_write_bool_key(w, "changes_numerics", item->changes_numerics);
    if (item->has_dimension) {
        write_dimension(&item->dimension, w);
        json_write_int64_key(w, "from", item->dimension.from);
        json_write_int64_key(w, "to", item->dimension.to);
    }
    write_texts(w, "evidence", item->evidence, item->evidence_count);
    json_write_text_key(w, "how", item->how);
    json_close_object(w);
}

void advice_plan_json_write(const struct advice_plan *plan, struct json_writer *w) {
    const char *ids[ADVICE_ID_COUNT];
    for (size_t i = 0; i < plan->count; i++) ids[i] = advice_id_name(plan->ids[i]);
    json_key(w, "plan");
    json_open_object(w);
    json_write_bool_key(w, "is_needed", plan->is_needed);
    json_write_bool_key(w, "fits", plan->fits);
    write_texts(w, "interventions", ids, plan->count);
    json_write_int64_key(w, "predicted_total_bytes", plan->predicted_total_bytes);
    json_close_object(w);
}

static void write_optional(struct json_writer *w, const char *key, int64_t value) {
    json_key(w, key);
    if (value > 0)
        json_write_int64(w, value);
    else
        json_write_null(w);
}

void advice_json_write(const struct advice_document *document, struct json_writer *w) {
    static const char *const not_counted[] = {"the program's own code", "what the runtime reserves for itself"};
    const struct advice *advice = document->advice;
    json_open_object(w);
    if (document->session) json_write_text_key(w, "session", document->session);
    if (document->host) json_write_text_key(w, "host", document->host);
    json_write_text_key(w, "module", document->module);
    write_optional(w, "capacity_bytes", advice->capacity_bytes);
    json_write_int64_key(w, "total_bytes", advice->total_bytes);
    json_write_int64_key(w, "peak_bytes", advice->peak_bytes);
    write_optional(w, "batch", advice->batch);
    json_write_bool_key(w, "is_training", advice->is_training);
    write_texts(w, "not_counted", not_counted, sizeof not_counted / sizeof *not_counted);
    json_key(w, "interventions");
    json_open_array(w);
    for (int id = 0; id < ADVICE_ID_COUNT; id++) write_item(&advice->items[id], w);
    json_close_array(w);
    if (advice->capacity_bytes > 0) advice_plan_json_write(&advice->plan, w);
    json_close_object(w);
}
