#include "server/api/api.h"

#include <math.h>

#include "analysis/profile/questions/op_totals.h"
#include "analysis/profile/questions/size_histogram.h"
#include "server/api/profile_question.h"
#include "server/text/fields.h"

static const struct field op_fields[] = {
    FIELD("op", struct op_total, op),
    FIELD("allocations", struct op_total, allocations),
    FIELD("frees", struct op_total, frees),
    FIELD("requested_bytes", struct op_total, requested_bytes),
    FIELD("allocated_bytes", struct op_total, allocated_bytes),
    FIELD("held_bytes", struct op_total, held_bytes),
    FIELD("largest_bytes", struct op_total, largest_bytes),
    FIELD("median_lifetime_ps", struct op_total, median_lifetime_ps),
    FIELD_END,
};

static const struct field total_fields[] = {
    FIELD("allocations", struct op_totals, allocations),
    FIELD("frees", struct op_totals, frees),
    FIELD("frees_of_unseen", struct op_totals, frees_of_unseen),
    FIELD("requested_bytes", struct op_totals, requested_bytes),
    FIELD("allocated_bytes", struct op_totals, allocated_bytes),
    FIELD_END,
};

static const struct field size_fields[] = {
    FIELD("from_bytes", struct histogram_range, from),
    FIELD("to_bytes", struct histogram_range, to),
    FIELD("count", struct histogram_range, count),
    FIELD("bytes", struct histogram_range, bytes),
    FIELD_END,
};

static const struct field lifetime_fields[] = {
    FIELD("from_ps", struct histogram_range, from),
    FIELD("to_ps", struct histogram_range, to),
    FIELD("count", struct histogram_range, count),
    FIELD("bytes", struct histogram_range, bytes),
    FIELD_END,
};

static const struct field never_freed_fields[] = {
    FIELD("count", struct allocation_histograms, never_freed_count),
    FIELD("bytes", struct allocation_histograms, never_freed_bytes),
    FIELD_END,
};

static bool write_ops(const struct op_totals *totals, struct arena *arena, struct json_writer *w) {
    struct string_table strings;
    if (!string_table_init(&strings, arena)) return false;
    fields_put_strings(op_fields, totals->ops, totals->op_count, sizeof *totals->ops, &strings);
    string_table_write(&strings, w);
    json_open_object_key(w, "ops");
    fields_write_columns(w, op_fields, totals->ops, totals->op_count, sizeof *totals->ops, &strings);
    json_close_object(w);
    return !string_table_has_failed(&strings);
}

// How much more was taken than asked for; null when either was not told.
static double over_allocation(const struct op_totals *totals) {
    bool is_told = totals->requested_bytes > 0 && totals->allocated_bytes > 0;
    return is_told ? (double)totals->allocated_bytes / (double)totals->requested_bytes : NAN;
}

static void write_histogram(struct json_writer *w, const char *key, const struct field *fields,
                            const struct histogram_range *ranges, uint32_t count) {
    json_open_object_key(w, key);
    fields_write_columns(w, fields, ranges, count, sizeof *ranges, NULL);
    json_close_object(w);
}

static bool write_document(struct work *work, const void *asked, const struct profile_found *found,
                           struct json_writer *w, struct error *error) {
    (void)asked;
    struct op_totals totals;
    struct allocation_histograms histograms;
    if (!op_totals_make(found->profile, found->timeline, &work->arena, &totals, error)) return false;
    allocation_histograms_make(found->profile, found->timeline, &histograms);
    fields_write(w, total_fields, &totals);
    json_key(w, "over_allocation");
    json_write_double(w, over_allocation(&totals));
    if (!write_ops(&totals, &work->arena, w)) return work_out_of_memory(error);
    write_histogram(w, "sizes", size_fields, histograms.sizes, histograms.size_count);
    write_histogram(w, "lifetimes", lifetime_fields, histograms.lifetimes, histograms.lifetime_count);
    fields_write_object_key(w, "never_freed", never_freed_fields, &histograms);
    return true;
}

bool api_profile_ops(struct request *request, struct reply *reply, struct error *error) {
    return profile_answer(request, "ops", write_document, NULL, reply, error);
}
