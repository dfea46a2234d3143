#include "server/document/timeline_window_json.h"

#include <math.h>

#include "server/text/fields.h"

// The state that an event told.
struct state {
    int64_t heap_bytes, stack_bytes, free_bytes, row, time_ps;
    double fragmentation;
};

static const struct field before_fields[] = {
    FIELD("heap_bytes", struct state, heap_bytes),
    FIELD("stack_bytes", struct state, stack_bytes),
    FIELD("free_bytes", struct state, free_bytes),
    FIELD("fragmentation", struct state, fragmentation),
    FIELD("row", struct state, row),
    FIELD("time_ps", struct state, time_ps),
    FIELD_END,
};

static struct state state_at(const struct memory_timeline *t, uint32_t row) {
    return (struct state){t->heap_bytes[row], t->stack_bytes[row],  t->free_bytes[row], row,
                          t->time_ps[row],    t->fragmentation[row]};
}

struct entry_row {
    struct timeline_entry entry;
    int64_t time_ps, last_time_ps;
    bool has_state;  // some event of it told one
    struct state last;
};

#define ENTRY(name, member) FIELD(name, struct entry_row, member)
#define STATE(name, member) FIELD_IF(name, struct entry_row, member, has_state)

static const struct field entry_fields[] = {
    ENTRY("bucket", entry.bucket),
    ENTRY("count", entry.count),
    ENTRY("first_row", entry.first_row),
    ENTRY("time_ps", time_ps),
    ENTRY("last_time_ps", last_time_ps),
    FIELD_AS("peak_row", struct entry_row, entry.range.peak_row, FIELD_INDEX),
    STATE("heap_min", entry.range.heap.min),
    STATE("heap_max", entry.range.heap.max),
    STATE("stack_min", entry.range.stack.min),
    STATE("stack_max", entry.range.stack.max),
    STATE("free_min", entry.range.free.min),
    STATE("free_max", entry.range.free.max),
    STATE("used_min", entry.range.used.min),
    STATE("used_max", entry.range.used.max),
    STATE("heap_last", last.heap_bytes),
    STATE("stack_last", last.stack_bytes),
    STATE("free_last", last.free_bytes),
    STATE("fragmentation_min", entry.range.fragmentation_min),
    STATE("fragmentation_max", entry.range.fragmentation_max),
    STATE("fragmentation_last", last.fragmentation),
    FIELD_AS("largest_free_min", struct entry_row, entry.range.largest_free_min, FIELD_KNOWN),
    FIELD_END,
};

// To six decimals, as fine as a chart can show: a third of the cost of writing every digit.
static double fragmentation_shortened(double fragmentation) {
    return round(fragmentation * 1e6) / 1e6;
}

static struct entry_row entry_row_of(const struct memory_timeline *timeline, const struct timeline_entry *entry) {
    struct entry_row row = {.entry = *entry,
                            .time_ps = timeline->time_ps[entry->first_row],
                            .last_time_ps = timeline->time_ps[entry->first_row + entry->count - 1],
                            .has_state = entry->range.peak_row != MEMORY_EVENT_NONE};
    if (row.has_state) row.last = state_at(timeline, entry->range.last_row);
    row.entry.range.fragmentation_min = fragmentation_shortened(row.entry.range.fragmentation_min);
    row.entry.range.fragmentation_max = fragmentation_shortened(row.entry.range.fragmentation_max);
    row.last.fragmentation = fragmentation_shortened(row.last.fragmentation);
    return row;
}

bool timeline_window_write(const struct memory_timeline *timeline, const struct timeline_pyramid *pyramid,
                           const struct timeline_window *window, struct arena *scratch, struct json_writer *w) {
    bool has_before = window->before_row != MEMORY_EVENT_NONE;
    struct state before = has_before ? state_at(timeline, window->before_row) : (struct state){0};
    struct entry_row *rows = arena_push_raw(scratch, window->entry_count, sizeof *rows);
    if (!rows) return false;
    for (uint32_t i = 0; i < window->entry_count; i++) rows[i] = entry_row_of(timeline, &window->entries[i]);
    json_write_int64_key(w, "events", (int64_t)window->end_row - window->first_row);
    json_write_bool_key(w, "is_exact", window->is_exact);
    json_write_bool_key(w, "tells_usage", pyramid->tells.usage);
    json_write_bool_key(w, "tells_free", pyramid->tells.free);
    fields_write_object_key(w, "before", before_fields, has_before ? &before : NULL);
    fields_write_columns(w, entry_fields, rows, window->entry_count, sizeof *rows, NULL);
    return true;
}
