#include "server/api/api.h"

#include <inttypes.h>

#include "server/api/profile_question.h"
#include "server/document/breakdown_json.h"
#include "analysis/base/size_text.h"

// When neither is asked for: the peak.
struct breakdown_request {
    bool has_row, has_time;
    int64_t row, time_ps;
};

static bool choose_row(const struct breakdown_request *asked, const struct profile_found *found, uint32_t *row,
                       struct error *error) {
    const struct memory_timeline *t = found->timeline;
    *row = asked->has_row    ? (uint32_t)asked->row
           : asked->has_time ? memory_breakdown_row_at(t, asked->time_ps)
                             : memory_breakdown_peak_row(found->profile, t);
    bool is_there = asked->has_row ? asked->row >= 0 && asked->row < t->count : *row < t->count;
    if (is_there) return true;
    return error_set(error, ERROR_NOT_FOUND,
                     "This memory has %" PRIu32 " events, from row 0; there is no row %" PRId64 ".", t->count,
                     asked->row);
}

static bool write_rows(const struct profile_found *found, const struct memory_breakdown *b, struct arena *arena,
                       struct json_writer *w) {
    struct string_table strings;
    const struct breakdown_row *rows = breakdown_rows(found->profile, b, b->row_count, arena);
    if (!rows || !string_table_init(&strings, arena)) return false;
    fields_put_strings(breakdown_fields, rows, b->row_count, sizeof *rows, &strings);
    string_table_write(&strings, w);
    json_open_object_key(w, "rows");
    fields_write_columns(w, breakdown_fields, rows, b->row_count, sizeof *rows, &strings);
    fields_write_columns(w, breakdown_when_fields, rows, b->row_count, sizeof *rows, &strings);
    json_close_object(w);
    return !string_table_has_failed(&strings);
}

static bool write_xprof(const struct memory_timeline *t, const struct memory_breakdown *b, struct arena *arena,
                        struct json_writer *w) {
    int64_t other_bytes = (int64_t)((uint64_t)b->explained_bytes - (uint64_t)b->step_bytes);
    bool is_elsewhere = b->is_peak && memory_breakdown_peak_recurs(t, b->row);
    const char *note = arena_printf(
        arena,
        "XProf's table shows the peak only%s, and of the allocations only those of the step it falls into%s: %s in "
        "%" PRIu32 " of these %" PRIu32 " rows. It adds the other %s to its \"unused preallocated device memory\".",
        is_elsewhere ? " (the last of equal ones; this is the first)" : "",
        b->is_peak ? "" : " (here: of this event's step)", size_string(b->step_bytes, arena), b->step_row_count,
        b->row_count, size_string(other_bytes, arena));
    json_open_object_key(w, "xprof");
    json_write_int64_key(w, "rows", b->step_row_count);
    json_write_text_key(w, "note", note);
    json_close_object(w);
    return note != NULL;
}

static bool write_breakdown(struct work *work, const void *context, const struct profile_found *found,
                            struct json_writer *w, struct error *error) {
    struct memory_breakdown breakdown;
    uint32_t row;
    if (!choose_row(context, found, &row, error) ||
        !memory_breakdown_make(found->profile, found->timeline, row, &work->arena, &breakdown, error)) {
        return false;
    }
    breakdown_moment_write(found->timeline, &breakdown, true, w);
    return (write_rows(found, &breakdown, &work->arena, w) &&
            write_xprof(found->timeline, &breakdown, &work->arena, w)) ||
           work_out_of_memory(error);
}

bool api_profile_breakdown(struct request *request, struct reply *reply, struct error *error) {
    struct breakdown_request asked = {.has_row = request_given(request, "row"),
                                      .has_time = request_given(request, "time_ps")};
    return request_int64(request, "row", 0, &asked.row, error) &&
           request_int64(request, "time_ps", 0, &asked.time_ps, error) &&
           profile_answer(request, "breakdown", write_breakdown, &asked, reply, error);
}
