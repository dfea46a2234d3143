#include "server/document/breakdown_json.h"

#include "analysis/profile/questions/largest_free.h"
#include "analysis/profile/events/data_type_name.h"

const struct field breakdown_fields[] = {
    FIELD("op", struct breakdown_row, site.op),
    FIELD("region_type", struct breakdown_row, site.region_type),
    FIELD("data_type", struct breakdown_row, data_type),
    FIELD("shape", struct breakdown_row, site.shape),
    FIELD("occurrences", struct breakdown_row, held.occurrences),
    FIELD("requested_bytes", struct breakdown_row, site.requested_bytes),
    FIELD("allocated_bytes", struct breakdown_row, site.allocated_bytes),
    FIELD("total_bytes", struct breakdown_row, held.total_bytes),
    FIELD_END,
};

const struct field breakdown_when_fields[] = {
    FIELD("first_row", struct breakdown_row, held.first_row),
    FIELD("first_step", struct breakdown_row, held.first_step),
    FIELD("last_step", struct breakdown_row, held.last_step),
    FIELD_END,
};

struct breakdown_row *breakdown_rows(const struct memory_profile *profile, const struct memory_breakdown *breakdown,
                                     uint32_t count, struct arena *arena) {
    struct breakdown_row *rows = arena_push_raw(arena, count, sizeof *rows);
    for (uint32_t i = 0; rows && i < count; i++) {
        const struct allocation_site *site = &profile->sites.sites[breakdown->rows[i].site];
        rows[i] = (struct breakdown_row){*site, data_type_string(site->data_type, arena), breakdown->rows[i]};
    }
    return rows;
}

struct moment {
    struct memory_breakdown breakdown;
    int64_t time_ps, step, stack_bytes, free_bytes, largest_free_bytes;
    double fragmentation;
    bool tells_free;
};

static const struct field moment_fields[] = {
    FIELD("row", struct moment, breakdown.row),
    FIELD("time_ps", struct moment, time_ps),
    FIELD("step", struct moment, step),
    FIELD("is_peak", struct moment, breakdown.is_peak),
    FIELD("heap_is_told", struct moment, breakdown.heap_is_told),
    FIELD("heap_bytes", struct moment, breakdown.heap_bytes),
    FIELD_END,
};

static const struct field rest_fields[] = {
    FIELD_IF("stack_bytes", struct moment, stack_bytes, breakdown.heap_is_told),
    FIELD_IF("free_bytes", struct moment, free_bytes, tells_free),
    FIELD_IF("fragmentation", struct moment, fragmentation, tells_free),
    FIELD_AS("largest_free_bytes", struct moment, largest_free_bytes, FIELD_KNOWN),
    FIELD_END,
};

static const struct field explained_fields[] = {
    FIELD("explained_bytes", struct moment, breakdown.explained_bytes),
    FIELD("unexplained_bytes", struct moment, breakdown.unexplained_bytes),
    FIELD_END,
};

void breakdown_moment_write(const struct memory_timeline *t, const struct memory_breakdown *breakdown, bool tells_rest,
                            struct json_writer *w) {
    uint32_t row = breakdown->row;
    bool tells_free = t->flags[row] & MEMORY_EVENT_HAS_STATE && timeline_tells(t).free;
    int64_t largest = largest_free_bytes(t->free_bytes[row], t->fragmentation[row]);
    struct moment moment = {*breakdown,
                            t->time_ps[row],
                            t->step[row],
                            t->stack_bytes[row],
                            t->free_bytes[row],
                            tells_free ? largest : LARGEST_FREE_UNKNOWN,
                            t->fragmentation[row],
                            tells_free};
    fields_write(w, moment_fields, &moment);
    if (tells_rest) fields_write(w, rest_fields, &moment);
    fields_write(w, explained_fields, &moment);
}
