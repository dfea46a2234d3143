#include "server/api/api.h"

#include <math.h>

#include "analysis/profile/questions/op_totals.h"
#include "analysis/profile/questions/size_histogram.h"
#include "server/text/number_columns.h"
#include "server/document/profile_columns_json.h"
#include "server/http/kept_reply.h"
#include "server/text/json_writer.h"

static const char *const keys[] = {"op",
                                   "allocations",
                                   "frees",
                                   "requested_bytes",
                                   "allocated_bytes",
                                   "held_bytes",
                                   "largest_bytes",
                                   "median_lifetime_ps"};

static void fill_row(int64_t *values, const struct op_total *op, struct string_table *strings) {
    *values++ = string_table_put(strings, op->op);
    *values++ = (int64_t)op->allocations;
    *values++ = (int64_t)op->frees;
    *values++ = op->requested_bytes;
    *values++ = op->allocated_bytes;
    *values++ = op->held_bytes;
    *values++ = op->largest_bytes;
    *values++ = op->median_lifetime_ps;
}

static bool write_ops(const struct op_totals *totals, struct arena *arena, struct json_writer *w) {
    struct string_table strings;
    struct number_columns columns;
    if (!string_table_init(&strings, arena) ||
        !number_columns_make(&columns, keys, sizeof keys / sizeof *keys, totals->op_count, arena)) {
        return false;
    }
    for (uint32_t i = 0; i < totals->op_count; i++) {
        fill_row(number_columns_row(&columns, i), &totals->ops[i], &strings);
    }
    string_table_write(&strings, w);
    json_key(w, "ops");
    json_open_object(w);
    number_columns_write(&columns, w);
    json_close_object(w);
    return !string_table_has_failed(&strings);
}

// How much more was taken than asked for; null when either was not told.
static double over_allocation(const struct op_totals *totals) {
    bool is_told = totals->requested_bytes > 0 && totals->allocated_bytes > 0;
    return is_told ? (double)totals->allocated_bytes / (double)totals->requested_bytes : NAN;
}

static void write_totals(const struct op_totals *totals, struct json_writer *w) {
    json_write_int64_key(w, "allocations", (int64_t)totals->allocations);
    json_write_int64_key(w, "frees", (int64_t)totals->frees);
    json_write_int64_key(w, "frees_of_unseen", (int64_t)totals->frees_of_unseen);
    json_write_int64_key(w, "requested_bytes", totals->requested_bytes);
    json_write_int64_key(w, "allocated_bytes", totals->allocated_bytes);
    json_key(w, "over_allocation");
    json_write_double(w, over_allocation(totals));
}

static bool write_histogram(const char *key, const char *const range_keys[4], const struct histogram_range *ranges,
                            uint32_t count, struct arena *arena, struct json_writer *w) {
    struct number_columns columns;
    if (!number_columns_make(&columns, range_keys, 4, count, arena)) return false;
    for (uint32_t i = 0; i < count; i++) {
        int64_t *values = number_columns_row(&columns, i);
        *values++ = ranges[i].from;
        *values++ = ranges[i].to;
        *values++ = (int64_t)ranges[i].count;
        *values++ = ranges[i].bytes;
    }
    json_key(w, key);
    json_open_object(w);
    number_columns_write(&columns, w);
    json_close_object(w);
    return true;
}

static bool write_histograms(const struct allocation_histograms *h, struct arena *arena, struct json_writer *w) {
    static const char *const size_keys[] = {"from_bytes", "to_bytes", "count", "bytes"};
    static const char *const lifetime_keys[] = {"from_ps", "to_ps", "count", "bytes"};
    if (!write_histogram("sizes", size_keys, h->sizes, h->size_count, arena, w) ||
        !write_histogram("lifetimes", lifetime_keys, h->lifetimes, h->lifetime_count, arena, w)) {
        return false;
    }
    json_key(w, "never_freed");
    json_open_object(w);
    json_write_int64_key(w, "count", (int64_t)h->never_freed_count);
    json_write_int64_key(w, "bytes", h->never_freed_bytes);
    json_close_object(w);
    return true;
}

static bool write_document(struct work *work, void *context, struct output *output, struct error *error) {
    const struct profile_request *asked = context;
    struct profile_found found;
    struct op_totals totals;
    struct allocation_histograms histograms;
    if (!profile_request_load(work, asked, &found, error) ||
        !op_totals_make(found.profile, found.timeline, &work->arena, &totals, error)) {
        return false;
    }
    allocation_histograms_make(found.profile, found.timeline, &histograms);
    struct json_writer w = json_writer_on(output);
    json_open_object(&w);
    profile_found_write(&asked->session, &found, &w);
    write_totals(&totals, &w);
    bool is_written = write_ops(&totals, &work->arena, &w) && write_histograms(&histograms, &work->arena, &w);
    json_close_object(&w);
    return is_written || work_out_of_memory(error);
}

bool api_profile_ops(struct request *request, struct reply *reply, struct error *error) {
    struct profile_request asked;
    if (!profile_request_read(request, &asked, error)) return false;
    const char *key = profile_request_key(request, &asked, "ops", error);
    return key && kept_reply(request, key, REPLY_JSON, write_document, &asked, reply, error);
}
