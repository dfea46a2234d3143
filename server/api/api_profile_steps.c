#include "server/api/api.h"

#include <inttypes.h>

#include "analysis/profile/questions/step_growth.h"
#include "server/document/growth_text.h"
#include "server/text/number_columns.h"
#include "server/document/profile_columns_json.h"
#include "server/http/kept_reply.h"
#include "server/text/json_writer.h"

static const char *const step_keys[] = {"step",  "begin_ps",          "end_ps",     "allocations",
                                        "frees", "heap_at_end_bytes", "peak_bytes", "held_bytes"};
static const char *const op_keys[] = {
    "op", "first_step", "last_step", "steps_growing", "held_at_end_bytes", "held_at_end_count"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool write_steps(const struct step_growth *growth, struct arena *arena, struct json_writer *w) {
    const struct step_list *list = &growth->steps;
    struct number_columns columns;
    if (!number_columns_make(&columns, step_keys, COUNT(step_keys), list->count, arena)) return false;
    json_key(w, "steps");
    json_open_object(w);
    json_key(w, "name");
    json_open_array(w);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct memory_step *step = &list->steps[i];
        int64_t *values = number_columns_row(&columns, i);
        *values++ = step->id;
        *values++ = step->begin_ps;
        *values++ = step->end_ps;
        *values++ = (int64_t)step->allocations;
        *values++ = (int64_t)step->frees;
        *values++ = step->heap_at_end_bytes;
        *values++ = step->peak_bytes;
        *values++ = step->held_bytes;
        json_write_string(w, step->name);
    }
    json_close_array(w);
    number_columns_write(&columns, w);
    json_close_object(w);
    json_write_int64_key(w, "all_steps", growth->all_step_count);
    json_write_int64_key(w, "steps_per_entry", growth->merged_per_entry);
    return true;
}

static void write_held(const struct step_growth *growth, struct json_writer *w) {
    json_key(w, "held_bytes");
    json_open_array(w);
    for (uint32_t i = 0; i < growth->op_count; i++) {
        json_open_array(w);
        for (uint32_t step = 0; step < growth->steps.count; step++) {
            json_write_int64(w, growth->ops[i].held_bytes[step]);
        }
        json_close_array(w);
    }
    json_close_array(w);
}

static void write_slopes(const struct step_growth *growth, struct json_writer *w) {
    json_key(w, "slope_bytes");
    json_open_array(w);
    for (uint32_t i = 0; i < growth->op_count; i++) json_write_double(w, growth->ops[i].slope_bytes);
    json_close_array(w);
    json_key(w, "is_leak");
    json_open_array(w);
    for (uint32_t i = 0; i < growth->op_count; i++) json_write_bool(w, growth->ops[i].is_leak);
    json_close_array(w);
}

static bool write_growth(const struct step_growth *growth, struct arena *arena, struct json_writer *w) {
    struct string_table strings;
    struct number_columns columns;
    if (!string_table_init(&strings, arena) ||
        !number_columns_make(&columns, op_keys, COUNT(op_keys), growth->op_count, arena)) {
        return false;
    }
    for (uint32_t i = 0; i < growth->op_count; i++) {
        const struct growth_op *op = &growth->ops[i];
        int64_t *values = number_columns_row(&columns, i);
        *values++ = string_table_put(&strings, op->op);
        *values++ = op->first_step;
        *values++ = op->last_step;
        *values++ = op->steps_growing;
        *values++ = op->held_at_end_bytes;
        *values++ = op->held_at_end_count;
    }
    string_table_write(&strings, w);
    json_key(w, "growth");
    json_open_object(w);
    number_columns_write(&columns, w);
    write_slopes(growth, w);
    write_held(growth, w);
    json_write_int64_key(w, "left_out", growth->left_out);
    json_close_object(w);
    return !string_table_has_failed(&strings);
}

static bool write_verdict(const struct step_growth *growth, struct arena *arena, struct json_writer *w) {
    const struct growth_op *worst = step_growth_worst(growth);
    const char *text = growth_text(growth, arena);
    json_key(w, "verdict");
    json_open_object(w);
    json_write_bool_key(w, "leaks", worst != NULL);
    json_key(w, "op");
    if (worst)
        json_write_string(w, worst->op);
    else
        json_write_null(w);
    json_key(w, "slope_bytes");
    if (worst)
        json_write_double(w, worst->slope_bytes);
    else
        json_write_null(w);
    json_write_int64_key(w, "leaking_ops", growth->leak_count);
    json_write_text_key(w, "text", text);
    json_close_object(w);
    return text != NULL;
}

static bool write_document(struct work *work, void *context, struct output *output, struct error *error) {
    const struct profile_request *asked = context;
    struct profile_found found;
    struct step_growth growth;
    if (!profile_request_load(work, asked, &found, error) ||
        !step_growth_make(found.profile, found.timeline, &work->arena, &growth, error)) {
        return false;
    }
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    profile_found_write(&asked->session, &found, &w);
    bool is_written = write_steps(&growth, &work->arena, &w) && write_growth(&growth, &work->arena, &w) &&
                      write_verdict(&growth, &work->arena, &w);
    json_close_object(&w);
    return is_written || work_out_of_memory(error);
}

bool api_profile_steps(struct request *request, struct reply *reply, struct error *error) {
    struct profile_request asked;
    if (!profile_request_read(request, &asked, error)) return false;
    const char *key = profile_request_key(request, &asked, "steps", error);
    return key && kept_reply(request, key, REPLY_JSON, write_document, &asked, reply, error);
}
