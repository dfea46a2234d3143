#include "server/api/api.h"

#include <inttypes.h>

#include "analysis/profile/events/data_type_name.h"
#include "analysis/profile/questions/largest_free.h"
#include "analysis/profile/questions/memory_breakdown.h"
#include "server/text/number_columns.h"
#include "server/document/profile_columns_json.h"
#include "server/http/kept_reply.h"
#include "server/text/size_text.h"
#include "server/text/json_writer.h"

// When neither is asked for: the peak.
struct breakdown_request {
    struct profile_request profile;
    bool has_row, has_time;
    int64_t row, time_ps;
};

static const char *const keys[] = {"op",          "region_type",     "data_type",       "shape",
                                   "occurrences", "requested_bytes", "allocated_bytes", "total_bytes",
                                   "first_row",   "first_step",      "last_step"};

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

// A name that stands in no table is written for the reply.
static uint32_t put_data_type(struct string_table *strings, int64_t data_type) {
    char buffer[DATA_TYPE_NAME_BYTES];
    const char *name = data_type_name(data_type, buffer);
    const char *kept = name == buffer ? arena_string(strings->arena, bytes_of(name)) : name;
    return string_table_put(strings, bytes_of(kept ? kept : ""));
}

static void fill_row(int64_t *values, const struct memory_breakdown_row *row, const struct allocation_site *site,
                     struct string_table *strings) {
    *values++ = string_table_put(strings, site->op);
    *values++ = string_table_put(strings, site->region_type);
    *values++ = put_data_type(strings, site->data_type);
    *values++ = string_table_put(strings, site->shape);
    *values++ = row->occurrences;
    *values++ = site->requested_bytes;
    *values++ = site->allocated_bytes;
    *values++ = row->total_bytes;
    *values++ = row->first_row;
    *values++ = row->first_step;
    *values++ = row->last_step;
}

static void write_state(const struct memory_timeline *t, const struct memory_breakdown *b, struct json_writer *w) {
    struct timeline_tells tells = timeline_tells(t);
    bool has_state = t->flags[b->row] & MEMORY_EVENT_HAS_STATE, tells_free = has_state && tells.free;
    json_write_int64_key(w, "row", b->row);
    json_write_int64_key(w, "time_ps", t->time_ps[b->row]);
    json_write_int64_key(w, "step", t->step[b->row]);
    json_write_bool_key(w, "is_peak", b->is_peak);
    json_write_bool_key(w, "heap_is_told", b->heap_is_told);
    json_write_int64_key(w, "heap_bytes", b->heap_bytes);
    bytes_write_key_if(w, "stack_bytes", b->heap_is_told, t->stack_bytes[b->row]);
    bytes_write_key_if(w, "free_bytes", tells_free, t->free_bytes[b->row]);
    json_key(w, "fragmentation");
    if (tells_free)
        json_write_double(w, t->fragmentation[b->row]);
    else
        json_write_null(w);
    largest_free_write_key(w, "largest_free_bytes",
                           tells_free ? largest_free_bytes(t->free_bytes[b->row], t->fragmentation[b->row])
                                      : LARGEST_FREE_UNKNOWN);
    json_write_int64_key(w, "explained_bytes", b->explained_bytes);
    json_write_int64_key(w, "unexplained_bytes", b->unexplained_bytes);
}

static bool write_rows(const struct profile_found *found, const struct memory_breakdown *b, struct arena *arena,
                       struct json_writer *w) {
    struct string_table strings;
    struct number_columns columns;
    if (!string_table_init(&strings, arena) ||
        !number_columns_make(&columns, keys, sizeof keys / sizeof *keys, b->row_count, arena)) {
        return false;
    }
    for (uint32_t i = 0; i < b->row_count; i++) {
        const struct allocation_site *site = &found->profile->sites.sites[b->rows[i].site];
        fill_row(number_columns_row(&columns, i), &b->rows[i], site, &strings);
    }
    string_table_write(&strings, w);
    json_key(w, "rows");
    json_open_object(w);
    number_columns_write(&columns, w);
    json_close_object(w);
    return !string_table_has_failed(&strings);
}

static bool write_xprof(const struct memory_timeline *t, const struct memory_breakdown *b, struct arena *arena,
                        struct json_writer *w) {
    char step_text[SIZE_TEXT_BYTES], other_text[SIZE_TEXT_BYTES];
    int64_t other_bytes = (int64_t)((uint64_t)b->explained_bytes - (uint64_t)b->step_bytes);
    bool is_elsewhere = b->is_peak && memory_breakdown_peak_recurs(t, b->row);
    const char *note = arena_printf(
        arena,
        "XProf's table shows the peak only%s, and of the allocations only those of the step it falls into%s: %s in "
        "%" PRIu32 " of these %" PRIu32 " rows. It adds the other %s to its \"unused preallocated device memory\".",
        is_elsewhere ? " (the last of equal ones; this is the first)" : "",
        b->is_peak ? "" : " (here: of this event's step)", size_text(b->step_bytes, step_text), b->step_row_count,
        b->row_count, size_text(other_bytes, other_text));
    json_key(w, "xprof");
    json_open_object(w);
    json_write_int64_key(w, "rows", b->step_row_count);
    json_write_text_key(w, "note", note);
    json_close_object(w);
    return note != NULL;
}

static bool write_breakdown(struct work *work, void *context, struct output *output, struct error *error) {
    const struct breakdown_request *asked = context;
    struct profile_found found;
    struct memory_breakdown breakdown;
    uint32_t row;
    if (!profile_request_load(work, &asked->profile, &found, error) || !choose_row(asked, &found, &row, error) ||
        !memory_breakdown_make(found.profile, found.timeline, row, &work->arena, &breakdown, error)) {
        return false;
    }
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    profile_found_write(&asked->profile.session, &found, &w);
    write_state(found.timeline, &breakdown, &w);
    bool is_written = write_rows(&found, &breakdown, &work->arena, &w) &&
                      write_xprof(found.timeline, &breakdown, &work->arena, &w);
    json_close_object(&w);
    return is_written || work_out_of_memory(error);
}

static bool is_given(const struct request *request, const char *name) {
    const char *value = request_query(request, name);
    return value && *value;
}

bool api_profile_breakdown(struct request *request, struct reply *reply, struct error *error) {
    struct breakdown_request asked = {.has_row = is_given(request, "row"), .has_time = is_given(request, "time_ps")};
    if (!request_int64(request, "row", 0, &asked.row, error) ||
        !request_int64(request, "time_ps", 0, &asked.time_ps, error) ||
        !profile_request_read(request, &asked.profile, error)) {
        return false;
    }
    const char *key = profile_request_key(request, &asked.profile, "breakdown", error);
    return key && kept_reply(request, key, REPLY_JSON, write_breakdown, &asked, reply, error);
}
