#include "server/document/pressure_json.h"

#include "server/document/profile_columns_json.h"

static const char *const state_names[] = {[PRESSURE_UNKNOWN] = "unknown",
                                          [PRESSURE_ROOMY] = "roomy",
                                          [PRESSURE_TIGHT] = "tight",
                                          [PRESSURE_FAILED] = "failed"};
static const char *const kind_names[] = {[PRESSURE_STALL] = "stall", [PRESSURE_PAUSE] = "pause"};

static void write_free(const struct memory_timeline *t, uint32_t row, int64_t largest_bytes, struct json_writer *w) {
    json_write_int64_key(w, "row", row);
    json_write_int64_key(w, "time_ps", t->time_ps[row]);
    json_write_int64_key(w, "free_bytes", t->free_bytes[row]);
    json_write_int64_key(w, "largest_free_bytes", largest_bytes);
    fragmentation_write_key(w, "fragmentation", t->fragmentation[row]);
}

static void write_tightest(const struct pressure_told *told, struct json_writer *w) {
    json_key(w, "tightest");
    if (told->pressure->tightest == MEMORY_EVENT_NONE) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    write_free(told->timeline, told->pressure->tightest, told->pressure->tightest_bytes, w);
    json_close_object(w);
}

static void write_largest_request(const struct pressure_told *told, struct json_writer *w) {
    uint32_t row = told->pressure->largest_request;
    json_key(w, "largest_request");
    if (row == MEMORY_EVENT_NONE) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_write_int64_key(w, "row", row);
    json_write_int64_key(w, "time_ps", told->timeline->time_ps[row]);
    json_write_int64_key(w, "allocated_bytes", told->pressure->largest_request_bytes);
    json_write_string_key(w, "op", memory_timeline_site(told->profile, told->timeline, row)->op);
    json_close_object(w);
}

static bool write_moment(const struct pressure_told *told, const struct pressure_moment *moment, struct arena *arena,
                         struct json_writer *w) {
    const char *text = pressure_moment_text(told, moment, arena);
    json_open_object(w);
    write_free(told->timeline, moment->row, moment->largest_free_bytes, w);
    json_write_int64_key(w, "until_ps", moment->until_ps);
    json_write_text_key(w, "kind", kind_names[moment->kind]);
    json_write_int64_key(w, "request_bytes", moment->largest_free_bytes);
    json_write_bool_key(w, "request_is_known", false);
    json_write_int64_key(w, "step", moment->step);
    json_write_string_key(w, "step_name", moment->step_name);
    json_write_text_key(w, "text", text);
    json_close_object(w);
    return text != NULL;
}

bool pressure_json_write(const struct pressure_told *told, struct arena *arena, struct json_writer *w) {
    const struct memory_pressure *p = told->pressure;
    const char *text = pressure_text(told, arena);
    bool is_good = text != NULL;
    json_write_text_key(w, "state", state_names[p->state]);
    write_tightest(told, w);
    write_largest_request(told, w);
    json_write_int64_key(w, "tight_events", p->tight_events);
    json_key(w, "moments");
    json_open_array(w);
    for (uint32_t i = 0; i < p->moment_count; i++) is_good &= write_moment(told, &p->moments[i], arena, w);
    json_close_array(w);
    json_write_int64_key(w, "left_out", p->left_out);
    json_write_text_key(w, "text", text);
    return is_good;
}
