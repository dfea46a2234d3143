#include "server/command/report_formats.h"

#include "server/document/findings_document.h"
#include "server/document/growth_document.h"
#include "server/document/pressure_document.h"
#include "server/document/profile_advice.h"
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

// --- Findings ---

static void write_findings(struct json_writer *w, struct report_profile_memory *memory) {
    const struct profile_evidence evidence = report_profile_evidence(memory);
    const struct findings_told told = {&evidence, &memory->findings};
    (void)!findings_json_write(&told, &memory->arena, w);  // a sentence without memory for it is null
}

// --- The peak ---

static void write_breakdown(struct writer *w, const struct report_profile_memory *memory) {
    const struct memory_breakdown *b = &memory->breakdown;
    json_open_object_key(&w->json, "breakdown");
    breakdown_moment_write(memory->overview.timeline, b, false, &w->json);
    json_open_array_key(&w->json, "rows");
    for (uint32_t i = 0; i < memory->rows_shown && is_open(w); i++) {
        json_open_object(&w->json);
        fields_write(&w->json, breakdown_fields, &memory->rows[i]);
        fields_write(&w->json, breakdown_when_fields, &memory->rows[i]);
        json_close_object(&w->json);
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
    fields_write(w, growth_op_field, op);
    fields_write(w, growth_slope_fields, op);
    fields_write(w, growth_held_fields, op);
    json_close_object(w);
}

static void write_growth(struct writer *w, const struct report_profile_memory *memory) {
    const struct step_growth *growth = &memory->growth;
    growth_verdict_write(growth, memory->growth_text, &w->json);
    json_open_object_key(&w->json, "growth");
    json_write_int64_key(&w->json, "all_steps", growth->all_step_count);
    json_open_array_key(&w->json, "ops");
    for (uint32_t i = 0; i < memory->ops_shown; i++) write_op(&w->json, &growth->ops[i]);
    json_close_array(&w->json);
    json_write_int64_key(&w->json, "left_out", (int64_t)growth->left_out + growth->op_count - memory->ops_shown);
    json_close_object(&w->json);
}

// --- Pressure ---

static void write_pressure(struct json_writer *w, struct report_profile_memory *memory) {
    struct pressure_told told = {memory->overview.profile, memory->overview.timeline, &memory->pressure};
    json_open_object_key(w, "pressure");
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
    write_findings(&w->json, memory);
    write_breakdown(w, memory);
    write_growth(w, memory);
    write_pressure(&w->json, memory);
    json_close_object(&w->json);
    drain(w);
}

static void write_memories(struct writer *w, const struct report_profile_loaded *loaded) {
    json_open_array_key(&w->json, "memories");
    for (size_t i = 0; i < loaded->profile->timeline_count && is_open(w); i++) {
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
    profile_head_write(loaded.profile, &loaded.fault, loaded.state, &w->json);
    json_write_text_key(&w->json, "reason", loaded.reason);
    json_write_text_key(&w->json, "advice", loaded.advice);
    write_memories(w, &loaded);
    report_profile_take_peaks(&loaded);
    json_close_object(&w->json);
    report_profile_unload(&loaded);
}

static void write_across(struct writer *w, struct report_profile_session *session) {
    report_across_compare(&session->across);
    if (!session->across.has_any) return;
    json_open_object_key(&w->json, "across");
    report_across_json(&session->across, &w->json);
    json_close_object(&w->json);
}

static void write_session(struct writer *w, struct report_profile_session *session, size_t *host) {
    const struct report_profile *p = w->p;
    json_open_object(&w->json);
    json_write_text_key(&w->json, "session", session->found->name);
    json_open_array_key(&w->json, "hosts");
    for (; *host < p->host_count && p->hosts[*host].session == session && is_open(w); (*host)++)
        write_host(w, &p->hosts[*host]);
    json_close_array(&w->json);
    write_across(w, session);
    const char *note = report_profile_session_note(session);
    json_write_texts_key(&w->json, "notes", &note, note != NULL);
    json_close_object(&w->json);
}

void report_profile_json_write(struct report_profile *p) {
    struct writer w = {p, json_writer_on(&p->report->sink.output)};
    size_t host = 0;
    json_open_object(&w.json);
    json_write_text_key(&w.json, "tool", "memory_profile");
    if (p->report->options.fail_over_bytes != REPORT_ALL)
        json_write_int64_key(&w.json, "fail_over_bytes", p->report->options.fail_over_bytes);
    json_open_array_key(&w.json, "sessions");
    for (size_t i = 0; i < p->session_count && is_open(&w); i++) write_session(&w, &p->sessions[i], &host);
    json_close_array(&w.json);
    report_profile_tell_missing(p);
    errors_json_write(&w.json, p->report->errors.items, p->report->errors.count);
    json_close_object(&w.json);
    output_append_char(w.json.output, '\n');
}
