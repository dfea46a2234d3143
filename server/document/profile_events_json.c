#include "server/document/profile_events_json.h"

#include "analysis/base/clamped.h"
#include "analysis/profile/events/data_type_name.h"
#include "server/store/work.h"
#include "server/text/fields.h"

bool profile_event_list_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                             int64_t offset, int64_t limit, struct arena *arena, struct profile_event_list *list) {
    *list = (struct profile_event_list){profile, timeline, offset, limit, .total = 0};
    list->rows = arena_push_raw(arena, (size_t)limit, sizeof *list->rows);
    list->differences = arena_push_raw(arena, (size_t)limit, sizeof *list->differences);
    return list->rows && list->differences;
}

bool profile_event_list_take(struct profile_event_list *list, uint32_t row, struct timeline_difference difference) {
    bool is_before = list->total++ < list->offset;
    if (is_before || list->count >= (size_t)list->limit) return false;
    list->rows[list->count] = row;
    list->differences[list->count++] = difference;
    return true;
}

struct event_row {
    uint32_t row, partner;
    int64_t time_ps, requested_bytes, allocated_bytes, heap_bytes, stack_bytes, free_bytes, peak_bytes, step;
    int64_t unexplained_bytes, unexplained_stack_bytes;
    double fragmentation;
    uint64_t address;
    bool is_free, step_is_completed, has_state;
    uint32_t op, region_type, data_type, shape, thread;  // into the string table
};

#define EVENT(name, member) FIELD(name, struct event_row, member)
#define STATE(name, member) FIELD_IF(name, struct event_row, member, has_state)

static const struct field event_fields[] = {
    EVENT("row", row),
    EVENT("time_ps", time_ps),
    EVENT("is_free", is_free),
    EVENT("requested_bytes", requested_bytes),
    EVENT("allocated_bytes", allocated_bytes),
    STATE("heap_bytes", heap_bytes),
    STATE("stack_bytes", stack_bytes),
    STATE("free_bytes", free_bytes),
    STATE("fragmentation", fragmentation),
    STATE("peak_bytes", peak_bytes),
    FIELD_AS("address", struct event_row, address, FIELD_ADDRESS),
    EVENT("step", step),
    EVENT("step_is_completed", step_is_completed),
    FIELD_AS("partner_row", struct event_row, partner, FIELD_INDEX),
    EVENT("has_state", has_state),
    EVENT("unexplained_bytes", unexplained_bytes),
    EVENT("unexplained_stack_bytes", unexplained_stack_bytes),
    EVENT("op", op),
    EVENT("region_type", region_type),
    EVENT("data_type", data_type),
    EVENT("shape", shape),
    EVENT("thread", thread),
    FIELD_END,
};

// The sizes as the event tells them; a free that tells none has those of the allocation it freed.
static void tell_site(const struct profile_event_list *list, struct event_row *event, struct string_table *strings) {
    const struct allocation_site *own = &list->profile->sites.sites[list->timeline->site[event->row]];
    const struct allocation_site *site = memory_timeline_site(list->profile, list->timeline, event->row);
    const struct allocation_site *sizes = own->allocated_bytes || own->requested_bytes ? own : site;
    event->requested_bytes = sizes->requested_bytes;
    event->allocated_bytes = sizes->allocated_bytes;
    event->op = string_table_put(strings, site->op);
    event->region_type = string_table_put(strings, site->region_type);
    event->data_type = string_table_put(strings, bytes_of(data_type_string(site->data_type, strings->arena)));
    event->shape = string_table_put(strings, site->shape);
}

static struct event_row event_row_of(const struct profile_event_list *list, size_t i, struct string_table *strings) {
    const struct memory_timeline *t = list->timeline;
    const struct timeline_difference *difference = &list->differences[i];
    uint32_t row = list->rows[i];
    struct event_row event = {
        .row = row,
        .partner = t->partner[row],
        .time_ps = t->time_ps[row],
        .heap_bytes = t->heap_bytes[row],
        .stack_bytes = t->stack_bytes[row],
        .free_bytes = t->free_bytes[row],
        .peak_bytes = t->peak_bytes[row],
        .step = t->step[row],
        .unexplained_bytes = clamped_add(difference->heap_bytes, difference->stack_bytes),
        .unexplained_stack_bytes = difference->stack_bytes,
        .fragmentation = t->fragmentation[row],
        .address = t->address[row],
        .is_free = t->flags[row] & MEMORY_EVENT_IS_FREE,
        .step_is_completed = t->flags[row] & MEMORY_EVENT_STEP_IS_COMPLETED,
        .has_state = t->flags[row] & MEMORY_EVENT_HAS_STATE,
    };
    tell_site(list, &event, strings);
    event.thread = string_table_put(strings, list->profile->threads[t->thread[row]].name);
    return event;
}

bool profile_events_write(const struct profile_event_list *list, struct arena *scratch, struct json_writer *w,
                          struct error *error) {
    struct string_table strings;
    struct event_row *rows = arena_push_raw(scratch, list->count, sizeof *rows);
    if (!rows || !string_table_init(&strings, scratch)) return work_out_of_memory(error);
    for (size_t i = 0; i < list->count; i++) rows[i] = event_row_of(list, i, &strings);
    fields_write_columns(w, event_fields, rows, list->count, sizeof *rows, NULL);
    string_table_write(&strings, w);
    return !string_table_has_failed(&strings) || work_out_of_memory(error);
}
