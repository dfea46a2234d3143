#include "server/document/pressure_document.h"

#include "server/text/fields.h"

static const char *const state_names[] = {[PRESSURE_UNKNOWN] = "unknown",
                                          [PRESSURE_ROOMY] = "roomy",
                                          [PRESSURE_TIGHT] = "tight",
                                          [PRESSURE_FAILED] = "failed"};
static const char *const kind_names[] = {[PRESSURE_STALL] = "stall", [PRESSURE_PAUSE] = "pause"};

// One event: what was free after it, or what it asked for, and what came of it.
struct told_moment {
    uint32_t row;
    int64_t time_ps, free_bytes, allocated_bytes;
    double fragmentation;
    struct bytes op;
    struct pressure_moment moment;
    const char *kind, *text;
    bool request_is_known;
};

static const struct field free_fields[] = {
    FIELD("row", struct told_moment, row),
    FIELD("time_ps", struct told_moment, time_ps),
    FIELD("free_bytes", struct told_moment, free_bytes),
    FIELD("largest_free_bytes", struct told_moment, moment.largest_free_bytes),
    FIELD("fragmentation", struct told_moment, fragmentation),
    FIELD_END,
};

static const struct field request_fields[] = {
    FIELD("row", struct told_moment, row),
    FIELD("time_ps", struct told_moment, time_ps),
    FIELD("allocated_bytes", struct told_moment, allocated_bytes),
    FIELD("op", struct told_moment, op),
    FIELD_END,
};

static const struct field moment_fields[] = {
    FIELD("until_ps", struct told_moment, moment.until_ps),
    FIELD("kind", struct told_moment, kind),
    FIELD("request_bytes", struct told_moment, moment.largest_free_bytes),
    FIELD("request_is_known", struct told_moment, request_is_known),
    FIELD("step", struct told_moment, moment.step),
    FIELD("step_name", struct told_moment, moment.step_name),
    FIELD("text", struct told_moment, text),
    FIELD_END,
};

static struct told_moment event_at(const struct pressure_told *told, uint32_t row) {
    const struct memory_timeline *t = told->timeline;
    return (struct told_moment){row, t->time_ps[row], t->free_bytes[row], .fragmentation = t->fragmentation[row]};
}

static void write_tightest(const struct pressure_told *told, struct json_writer *w) {
    bool is_known = told->pressure->tightest != MEMORY_EVENT_NONE;
    struct told_moment tightest = is_known ? event_at(told, told->pressure->tightest) : (struct told_moment){0};
    tightest.moment.largest_free_bytes = told->pressure->tightest_bytes;
    fields_write_object_key(w, "tightest", free_fields, is_known ? &tightest : NULL);
}

static void write_largest_request(const struct pressure_told *told, struct json_writer *w) {
    uint32_t row = told->pressure->largest_request;
    bool is_known = row != MEMORY_EVENT_NONE;
    struct told_moment largest = is_known ? event_at(told, row) : (struct told_moment){0};
    if (is_known) largest.op = memory_timeline_site(told->profile, told->timeline, row)->op;
    largest.allocated_bytes = told->pressure->largest_request_bytes;
    fields_write_object_key(w, "largest_request", request_fields, is_known ? &largest : NULL);
}

static bool write_moment(const struct pressure_told *told, const struct pressure_moment *moment, struct arena *arena,
                         struct json_writer *w) {
    struct told_moment row = event_at(told, moment->row);
    row.moment = *moment;
    row.kind = kind_names[moment->kind];
    row.text = pressure_moment_text(told, moment, arena);
    json_open_object(w);
    fields_write(w, free_fields, &row);
    fields_write(w, moment_fields, &row);
    json_close_object(w);
    return row.text != NULL;
}

bool pressure_json_write(const struct pressure_told *told, struct arena *arena, struct json_writer *w) {
    const struct memory_pressure *p = told->pressure;
    const char *text = pressure_text(told, arena);
    bool is_good = text != NULL;
    json_write_text_key(w, "state", state_names[p->state]);
    write_tightest(told, w);
    write_largest_request(told, w);
    json_write_int64_key(w, "tight_events", p->tight_events);
    json_open_array_key(w, "moments");
    for (uint32_t i = 0; i < p->moment_count; i++) is_good &= write_moment(told, &p->moments[i], arena, w);
    json_close_array(w);
    json_write_int64_key(w, "left_out", p->left_out);
    json_write_text_key(w, "text", text);
    return is_good;
}
