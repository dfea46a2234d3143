#include "server/api/api.h"

#include "server/api/profile_question.h"
#include "server/document/growth_document.h"

static const struct field step_fields[] = {
    FIELD("name", struct memory_step, name),
    FIELD("step", struct memory_step, id),
    FIELD("begin_ps", struct memory_step, begin_ps),
    FIELD("end_ps", struct memory_step, end_ps),
    FIELD("allocations", struct memory_step, allocations),
    FIELD("frees", struct memory_step, frees),
    FIELD("heap_at_end_bytes", struct memory_step, heap_at_end_bytes),
    FIELD("peak_bytes", struct memory_step, peak_bytes),
    FIELD("held_bytes", struct memory_step, held_bytes),
    FIELD_END,
};

static const struct field count_fields[] = {
    FIELD("all_steps", struct step_growth, all_step_count),
    FIELD("steps_per_entry", struct step_growth, merged_per_entry),
    FIELD_END,
};

static void write_steps(const struct step_growth *growth, struct json_writer *w) {
    json_open_object_key(w, "steps");
    fields_write_columns(w, step_fields, growth->steps.steps, growth->steps.count, sizeof *growth->steps.steps, NULL);
    json_close_object(w);
    fields_write(w, count_fields, growth);
}

static void write_held(const struct step_growth *growth, struct json_writer *w) {
    json_open_array_key(w, "held_bytes");
    for (uint32_t i = 0; i < growth->op_count; i++) {
        json_open_array(w);
        for (uint32_t step = 0; step < growth->steps.count; step++)
            json_write_int64(w, growth->ops[i].held_bytes[step]);
        json_close_array(w);
    }
    json_close_array(w);
}

static bool write_growth(const struct step_growth *growth, struct arena *arena, struct json_writer *w) {
    const struct field *const tables[] = {growth_op_field, growth_held_fields, growth_slope_fields};
    struct string_table strings;
    if (!string_table_init(&strings, arena)) return false;
    fields_put_strings(growth_op_field, growth->ops, growth->op_count, sizeof *growth->ops, &strings);
    string_table_write(&strings, w);
    json_open_object_key(w, "growth");
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        fields_write_columns(w, tables[i], growth->ops, growth->op_count, sizeof *growth->ops, &strings);
    write_held(growth, w);
    json_write_int64_key(w, "left_out", growth->left_out);
    json_close_object(w);
    return !string_table_has_failed(&strings);
}

static bool write_document(struct work *work, const void *asked, const struct profile_found *found,
                           struct json_writer *w, struct error *error) {
    (void)asked;
    struct step_growth growth;
    if (!step_growth_make(found->profile, found->timeline, &work->arena, &growth, error)) return false;
    const char *text = growth_text(&growth, &work->arena);
    write_steps(&growth, w);
    if (!text || !write_growth(&growth, &work->arena, w)) return work_out_of_memory(error);
    growth_verdict_write(&growth, text, w);
    return true;
}

bool api_profile_steps(struct request *request, struct reply *reply, struct error *error) {
    return profile_answer(request, "steps", write_document, NULL, reply, error);
}
