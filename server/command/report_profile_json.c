#include "server/command/report_profile_json.h"

#include "analysis/profile/events/data_type_name.h"
#include "server/document/pressure_json.h"
#include "server/document/profile_columns_json.h"
#include "server/text/error_json.h"

struct writer {
    struct report_profile *p;
    struct json_writer json;
};

static void drain(struct writer *w) {
    report_sink_drain(&w->p->report->sink);
}

static bool is_open(const struct writer *w) {
    return report_sink_is_open(&w->p->report->sink);
}

// --- The peak ---

static void write_row(struct json_writer *w, const struct memory_profile *profile,
                      const struct memory_breakdown_row *row) {
    char name[DATA_TYPE_NAME_BYTES];
    const struct allocation_site *site = &profile->sites.sites[row->site];
    json_open_object(w);
    json_write_string_key(w, "op", site->op);
    json_write_string_key(w, "region_type", site->region_type);
    json_write_text_key(w, "data_type", data_type_name(site->data_type, name));
    json_write_string_key(w, "shape", site->shape);
    json_write_int64_key(w, "occurrences", row->occurrences);
    json_write_int64_key(w, "requested_bytes", site->requested_bytes);
    json_write_int64_key(w, "allocated_bytes", site->allocated_bytes);
    json_write_int64_key(w, "total_bytes", row->total_bytes);
    json_write_int64_key(w, "first_row", row->first_row);
    json_write_int64_key(w, "first_step", row->first_step);
    json_write_int64_key(w, "last_step", row->last_step);
    json_close_object(w);
}

static void write_breakdown(struct writer *w, const struct report_profile_memory *memory) {
    const struct memory_breakdown *b = &memory->breakdown;
    const struct memory_timeline *timeline = memory->overview.timeline;
    json_key(&w->json, "breakdown");
    json_open_object(&w->json);
    json_write_int64_key(&w->json, "row", b->row);
    json_write_int64_key(&w->json, "time_ps", timeline->time_ps[b->row]);
    json_write_int64_key(&w->json, "step", timeline->step[b->row]);
    json_write_bool_key(&w->json, "is_peak", b->is_peak);
    json_write_bool_key(&w->json, "heap_is_told", b->heap_is_told);
    json_write_int64_key(&w->json, "heap_bytes", b->heap_bytes);
    json_write_int64_key(&w->json, "explained_bytes", b->explained_bytes);
    json_write_int64_key(&w->json, "unexplained_bytes", b->unexplained_bytes);
    json_key(&w->json, "rows");
    json_open_array(&w->json);
    for (uint32_t i = 0; i < memory->rows_shown && is_open(w); i++) {
        write_row(&w->json, memory->overview.profile, &b->rows[i]);
        drain(w);
    }
    json_close_array(&w->json);
    json_write_int64_key(&w->json, "rows_left_out", b->row_count - memory->rows_shown);
    json_write_int64_key(&w->json, "left_out_bytes", report_profile_rows_left_out_bytes(memory));
    json_close_object(&w->json);
}

// --- Leaks ---

static void write_op(struct json_writer *w, const struct growth_op *op) {
    json_open_object(w);
    json_write_string_key(w, "op", op->op);
    json_key(w, "slope_bytes");
    json_write_double(w, op->slope_bytes);
    json_write_bool_key(w, "is_leak", op->is_leak);
    json_write_int64_key(w, "first_step", op->first_step);
    json_write_int64_key(w, "last_step", op->last_step);
    json_write_int64_key(w, "steps_growing", op->steps_growing);
    json_write_int64_key(w, "held_at_end_bytes", op->held_at_end_bytes);
    json_write_int64_key(w, "held_at_end_count", op->held_at_end_count);
    json_close_object(w);
}

static void write_verdict(struct json_writer *w, const struct report_profile_memory *memory) {
    const struct growth_op *worst = step_growth_worst(&memory->growth);
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
    json_write_int64_key(w, "leaking_ops", memory->growth.leak_count);
    json_write_text_key(w, "text", memory->growth_text);
    json_close_object(w);
}

static void write_growth(struct writer *w, const struct report_profile_memory *memory) {
    const struct step_growth *growth = &memory->growth;
    write_verdict(&w->json, memory);
    json_key(&w->json, "growth");
    json_open_object(&w->json);
    json_write_int64_key(&w->json, "all_steps", growth->all_step_count);
    json_key(&w->json, "ops");
    json_open_array(&w->json);
    for (uint32_t i = 0; i < memory->ops_shown; i++) write_op(&w->json, &growth->ops[i]);
    json_close_array(&w->json);
    json_write_int64_key(&w->json, "left_out", (int64_t)growth->left_out + growth->op_count - memory->ops_shown);
    json_close_object(&w->json);
}

// --- Pressure ---

static void write_pressure(struct json_writer *w, struct report_profile_memory *memory) {
    struct pressure_told told = {memory->overview.profile, memory->overview.timeline, &memory->pressure};
    json_key(w, "pressure");
    json_open_object(w);
    (void)!pressure_json_write(&told, &memory->arena, w);  // a sentence without memory for it is null
    json_close_object(w);
}

// --- Memories, hosts, sessions ---

static void write_limit(struct writer *w, const struct report_profile_memory *memory) {
    if (w->p->report->options.fail_over_bytes == REPORT_ALL) return;
    json_key(&w->json, "is_over");
    if (memory->limit == REPORT_PROFILE_NOT_CHECKED)
        json_write_null(&w->json);
    else
        json_write_bool(&w->json, memory->limit == REPORT_PROFILE_OVER);
}

static void write_memory(struct writer *w, struct report_profile_memory *memory) {
    json_open_object(&w->json);
    json_write_string_key(&w->json, "memory_id", memory->overview.timeline->memory_id);
    json_key(&w->json, "overview");
    profile_memory_write(&memory->overview, &w->json);
    write_limit(w, memory);
    write_breakdown(w, memory);
    write_growth(w, memory);
    write_pressure(&w->json, memory);
    json_close_object(&w->json);
    drain(w);
}

static void write_memories(struct writer *w, const struct report_profile_loaded *loaded) {
    json_key(&w->json, "memories");
    json_open_array(&w->json);
    for (size_t i = 0; i < loaded->profile.timeline_count && is_open(w); i++) {
        struct report_profile_memory memory;
        if (report_profile_memory_make(w->p, loaded, i, &memory) && report_profile_memory_look(w->p, &memory))
            write_memory(w, &memory);
        report_profile_memory_free(&memory);
    }
    json_close_array(&w->json);
}

static void write_host(struct writer *w, const struct report_profile_host *host) {
    struct report_profile_loaded loaded;
    report_profile_load(w->p, host, &loaded);
    json_open_object(&w->json);
    json_write_text_key(&w->json, "host", host->file->host);
    json_key(&w->json, "error");
    error_json_write(&w->json, loaded.fault.code == ERROR_NONE ? NULL : &loaded.fault);
    json_write_text_key(&w->json, "state", loaded.state);
    json_write_int64_key(&w->json, "events", (int64_t)loaded.profile.event_count);
    json_write_int64_key(&w->json, "other_events", (int64_t)loaded.profile.other_event_count);
    json_write_int64_key(&w->json, "left_out_events", (int64_t)loaded.profile.left_out_count);
    json_write_int64_key(&w->json, "steps", (int64_t)loaded.profile.step_count);
    json_write_int64_key(&w->json, "module_runs", (int64_t)loaded.profile.module_run_count);
    json_write_text_key(&w->json, "reason", loaded.reason);
    json_write_text_key(&w->json, "advice", loaded.advice);
    write_memories(w, &loaded);
    json_close_object(&w->json);
    report_profile_unload(&loaded);
}

static void write_session(struct writer *w, const struct report_profile_session *session, size_t *host) {
    const struct report_profile *p = w->p;
    json_open_object(&w->json);
    json_write_text_key(&w->json, "session", session->name);
    json_key(&w->json, "hosts");
    json_open_array(&w->json);
    for (; *host < p->host_count && p->hosts[*host].session == session && is_open(w); (*host)++)
        write_host(w, &p->hosts[*host]);
    json_close_array(&w->json);
    json_key(&w->json, "notes");
    json_open_array(&w->json);
    const char *note = report_profile_session_note(session);
    if (note) json_write_text(&w->json, note);
    json_close_array(&w->json);
    json_close_object(&w->json);
}

void report_profile_json_write(struct report_profile *p) {
    struct writer w = {p, json_writer_on(&p->report->sink.output)};
    size_t host = 0;
    json_open_object(&w.json);
    json_write_text_key(&w.json, "tool", "memory_profile");
    if (p->report->options.fail_over_bytes != REPORT_ALL)
        json_write_int64_key(&w.json, "fail_over_bytes", p->report->options.fail_over_bytes);
    json_key(&w.json, "sessions");
    json_open_array(&w.json);
    for (size_t i = 0; i < p->session_count && is_open(&w); i++) write_session(&w, &p->sessions[i], &host);
    json_close_array(&w.json);
    report_profile_tell_missing(p);
    json_key(&w.json, "errors");
    json_open_array(&w.json);
    for (size_t i = 0; i < p->report->errors.count; i++) error_json_write(&w.json, &p->report->errors.items[i]);
    json_close_array(&w.json);
    json_close_object(&w.json);
    output_append_char(w.json.output, '\n');
}
