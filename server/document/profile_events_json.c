#include "server/document/profile_events_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/profile/questions/clamped.h"
#include "analysis/profile/events/data_type_name.h"
#include "server/document/profile_columns_json.h"
#include "server/store/work.h"
#include "server/text/json_writer.h"

// --- Numbers ---

typedef void event_write(const struct profile_event_list *list, size_t i, struct json_writer *w);

static void write_column(const struct profile_event_list *list, const char *name, event_write *write,
                         struct json_writer *w) {
    json_key(w, name);
    json_open_array(w);
    for (size_t i = 0; i < list->count; i++) write(list, i, w);
    json_close_array(w);
}

static bool has(const struct profile_event_list *list, size_t i, enum memory_event_flag flag) {
    return list->timeline->flags[list->rows[i]] & flag;
}

// The sizes as the event tells them; a free that tells none has those of the allocation it freed.
static const struct allocation_site *sizes_of(const struct profile_event_list *list, size_t i) {
    const struct allocation_site *own = &list->profile->sites.sites[list->timeline->site[list->rows[i]]];
    bool tells_none = !own->allocated_bytes && !own->requested_bytes;
    return tells_none ? memory_timeline_site(list->profile, list->timeline, list->rows[i]) : own;
}

static void write_row(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_int64(w, list->rows[i]);
}

static void write_time(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_int64(w, list->timeline->time_ps[list->rows[i]]);
}

static void write_is_free(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_bool(w, has(list, i, MEMORY_EVENT_IS_FREE));
}

static void write_requested(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_int64(w, sizes_of(list, i)->requested_bytes);
}

static void write_allocated(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_int64(w, sizes_of(list, i)->allocated_bytes);
}

static void write_state(const struct profile_event_list *list, size_t i, const int64_t *values, struct json_writer *w) {
    bytes_write_if(w, has(list, i, MEMORY_EVENT_HAS_STATE), values[list->rows[i]]);
}

static void write_heap(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    write_state(list, i, list->timeline->heap_bytes, w);
}

static void write_stack(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    write_state(list, i, list->timeline->stack_bytes, w);
}

static void write_free(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    write_state(list, i, list->timeline->free_bytes, w);
}

static void write_peak(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    write_state(list, i, list->timeline->peak_bytes, w);
}

static void write_fragmentation(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    if (has(list, i, MEMORY_EVENT_HAS_STATE))
        json_write_double(w, list->timeline->fragmentation[list->rows[i]]);
    else
        json_write_null(w);
}

static void write_address(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, list->timeline->address[list->rows[i]]);
    json_write_text(w, text);
}

static void write_step(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_int64(w, list->timeline->step[list->rows[i]]);
}

static void write_step_is_completed(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_bool(w, has(list, i, MEMORY_EVENT_STEP_IS_COMPLETED));
}

static void write_partner(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    uint32_t partner = list->timeline->partner[list->rows[i]];
    json_write_int64(w, partner == MEMORY_EVENT_NONE ? -1 : (int64_t)partner);
}

static void write_has_state(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_bool(w, has(list, i, MEMORY_EVENT_HAS_STATE));
}

static void write_unexplained(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_int64(w, clamped_add(list->differences[i].heap_bytes, list->differences[i].stack_bytes));
}

static void write_unexplained_stack(const struct profile_event_list *list, size_t i, struct json_writer *w) {
    json_write_int64(w, list->differences[i].stack_bytes);
}

static const struct {
    const char *name;
    event_write *write;
} number_columns[] = {
    {"row", write_row},
    {"time_ps", write_time},
    {"is_free", write_is_free},
    {"requested_bytes", write_requested},
    {"allocated_bytes", write_allocated},
    {"heap_bytes", write_heap},
    {"stack_bytes", write_stack},
    {"free_bytes", write_free},
    {"fragmentation", write_fragmentation},
    {"peak_bytes", write_peak},
    {"address", write_address},
    {"step", write_step},
    {"step_is_completed", write_step_is_completed},
    {"partner_row", write_partner},
    {"has_state", write_has_state},
    {"unexplained_bytes", write_unexplained},
    {"unexplained_stack_bytes", write_unexplained_stack},
};

// --- Texts ---

enum text_column { TEXT_OP, TEXT_REGION_TYPE, TEXT_DATA_TYPE, TEXT_SHAPE, TEXT_THREAD, TEXT_COLUMN_COUNT };

static const char *const text_column_names[] = {"op", "region_type", "data_type", "shape", "thread"};

static void put_texts(const struct profile_event_list *list, uint32_t row, struct string_table *strings,
                      uint32_t texts[TEXT_COLUMN_COUNT]) {
    const struct allocation_site *site = memory_timeline_site(list->profile, list->timeline, row);
    char buffer[DATA_TYPE_NAME_BYTES];
    const char *data_type = data_type_name(site->data_type, buffer);
    if (data_type == buffer) data_type = arena_string(strings->arena, bytes_of(buffer));
    texts[TEXT_OP] = string_table_put(strings, site->op);
    texts[TEXT_REGION_TYPE] = string_table_put(strings, site->region_type);
    texts[TEXT_DATA_TYPE] = string_table_put(strings, bytes_of(data_type ? data_type : ""));
    texts[TEXT_SHAPE] = string_table_put(strings, site->shape);
    texts[TEXT_THREAD] = string_table_put(strings, list->profile->threads[list->timeline->thread[row]].name);
}

static bool write_texts(const struct profile_event_list *list, struct arena *scratch, struct json_writer *w) {
    struct string_table strings;
    uint32_t *columns[TEXT_COLUMN_COUNT], texts[TEXT_COLUMN_COUNT];
    if (!string_table_init(&strings, scratch)) return false;
    for (int column = 0; column < TEXT_COLUMN_COUNT; column++) {
        columns[column] = arena_new(scratch, uint32_t, list->count + 1);
        if (!columns[column]) return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        put_texts(list, list->rows[i], &strings, texts);
        for (int column = 0; column < TEXT_COLUMN_COUNT; column++) columns[column][i] = texts[column];
    }
    for (int column = 0; column < TEXT_COLUMN_COUNT; column++)
        json_write_uint32_column(w, text_column_names[column], columns[column], list->count);
    string_table_write(&strings, w);
    return !string_table_has_failed(&strings);
}

bool profile_events_write(const struct profile_event_list *list, struct arena *scratch, struct json_writer *w,
                          struct error *error) {
    for (size_t i = 0; i < sizeof number_columns / sizeof number_columns[0]; i++)
        write_column(list, number_columns[i].name, number_columns[i].write, w);
    return write_texts(list, scratch, w) || work_out_of_memory(error);
}
