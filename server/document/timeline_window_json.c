#include "server/document/timeline_window_json.h"

#include <string.h>

#include "analysis/profile/questions/largest_free.h"
#include "server/document/profile_columns_json.h"

static void write_before(const struct memory_timeline *timeline, uint32_t row, struct json_writer *w) {
    json_key(w, "before");
    if (row == MEMORY_EVENT_NONE) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    json_write_int64_key(w, "heap_bytes", timeline->heap_bytes[row]);
    json_write_int64_key(w, "stack_bytes", timeline->stack_bytes[row]);
    json_write_int64_key(w, "free_bytes", timeline->free_bytes[row]);
    fragmentation_write_key(w, "fragmentation", timeline->fragmentation[row]);
    json_write_int64_key(w, "row", row);
    json_write_int64_key(w, "time_ps", timeline->time_ps[row]);
    json_close_object(w);
}

// --- Columns of what an entry is ---

typedef int64_t entry_value(const struct memory_timeline *timeline, const struct timeline_entry *entry);

static int64_t bucket_of(const struct memory_timeline *timeline, const struct timeline_entry *entry) {
    (void)timeline;
    return entry->bucket;
}

static int64_t count_of(const struct memory_timeline *timeline, const struct timeline_entry *entry) {
    (void)timeline;
    return entry->count;
}

static int64_t first_row_of(const struct memory_timeline *timeline, const struct timeline_entry *entry) {
    (void)timeline;
    return entry->first_row;
}

static int64_t time_of(const struct memory_timeline *timeline, const struct timeline_entry *entry) {
    return timeline->time_ps[entry->first_row];
}

static int64_t last_time_of(const struct memory_timeline *timeline, const struct timeline_entry *entry) {
    return timeline->time_ps[entry->first_row + entry->count - 1];
}

static int64_t peak_row_of(const struct memory_timeline *timeline, const struct timeline_entry *entry) {
    (void)timeline;
    return entry->range.peak_row == MEMORY_EVENT_NONE ? -1 : (int64_t)entry->range.peak_row;
}

static const struct {
    const char *name;
    entry_value *value;
} entry_columns[] = {
    {"bucket", bucket_of},          {"count", count_of},       {"first_row", first_row_of}, {"time_ps", time_of},
    {"last_time_ps", last_time_of}, {"peak_row", peak_row_of},
};

static void write_entries(const struct memory_timeline *timeline, const struct timeline_window *window,
                          struct json_writer *w) {
    for (size_t column = 0; column < sizeof entry_columns / sizeof entry_columns[0]; column++) {
        json_key(w, entry_columns[column].name);
        json_open_array(w);
        for (uint32_t i = 0; i < window->entry_count; i++)
            json_write_int64(w, entry_columns[column].value(timeline, &window->entries[i]));
        json_close_array(w);
    }
}

// --- Columns of bytes ---

static bool has_state(const struct timeline_range *range) {
    return range->peak_row != MEMORY_EVENT_NONE;
}

#define AT(member) offsetof(struct timeline_range, member)

static const struct {
    const char *name;
    size_t offset;
} extent_columns[] = {
    {"heap_min", AT(heap.min)}, {"heap_max", AT(heap.max)}, {"stack_min", AT(stack.min)}, {"stack_max", AT(stack.max)},
    {"free_min", AT(free.min)}, {"free_max", AT(free.max)}, {"used_min", AT(used.min)},   {"used_max", AT(used.max)},
};

static void write_extents(const struct timeline_window *window, struct json_writer *w) {
    for (size_t column = 0; column < sizeof extent_columns / sizeof extent_columns[0]; column++) {
        json_key(w, extent_columns[column].name);
        json_open_array(w);
        for (uint32_t i = 0; i < window->entry_count; i++) {
            const struct timeline_range *range = &window->entries[i].range;
            int64_t bytes;
            memcpy(&bytes, (const char *)range + extent_columns[column].offset, sizeof bytes);
            bytes_write_if(w, has_state(range), bytes);
        }
        json_close_array(w);
    }
}

static void write_last(const char *name, const int64_t *values, const struct timeline_window *window,
                       struct json_writer *w) {
    json_key(w, name);
    json_open_array(w);
    for (uint32_t i = 0; i < window->entry_count; i++) {
        const struct timeline_range *range = &window->entries[i].range;
        bytes_write_if(w, has_state(range), has_state(range) ? values[range->last_row] : 0);
    }
    json_close_array(w);
}

static void write_largest_free(const struct timeline_window *window, struct json_writer *w) {
    json_key(w, "largest_free_min");
    json_open_array(w);
    for (uint32_t i = 0; i < window->entry_count; i++) {
        const struct timeline_range *range = &window->entries[i].range;
        bytes_write_if(w, range->largest_free_min != LARGEST_FREE_UNKNOWN, range->largest_free_min);
    }
    json_close_array(w);
}

// --- Columns of fragmentation ---

enum which { WHICH_MIN, WHICH_MAX, WHICH_LAST };

static double fragmentation_of(const struct memory_timeline *timeline, const struct timeline_range *range,
                               enum which which) {
    if (which == WHICH_MIN) return range->fragmentation_min;
    if (which == WHICH_MAX) return range->fragmentation_max;
    return timeline->fragmentation[range->last_row];
}

static void write_fragmentation(const char *name, enum which which, const struct memory_timeline *timeline,
                                const struct timeline_window *window, struct json_writer *w) {
    json_key(w, name);
    json_open_array(w);
    for (uint32_t i = 0; i < window->entry_count; i++) {
        const struct timeline_range *range = &window->entries[i].range;
        if (has_state(range))
            fragmentation_write_short(w, fragmentation_of(timeline, range, which));
        else
            json_write_null(w);
    }
    json_close_array(w);
}

void timeline_window_write(const struct memory_timeline *timeline, const struct timeline_pyramid *pyramid,
                           const struct timeline_window *window, struct json_writer *w) {
    json_write_int64_key(w, "events", (int64_t)window->end_row - window->first_row);
    json_write_bool_key(w, "is_exact", window->is_exact);
    json_write_bool_key(w, "tells_usage", pyramid->tells.usage);
    json_write_bool_key(w, "tells_free", pyramid->tells.free);
    write_before(timeline, window->before_row, w);
    write_entries(timeline, window, w);
    write_extents(window, w);
    write_last("heap_last", timeline->heap_bytes, window, w);
    write_last("stack_last", timeline->stack_bytes, window, w);
    write_last("free_last", timeline->free_bytes, window, w);
    write_fragmentation("fragmentation_min", WHICH_MIN, timeline, window, w);
    write_fragmentation("fragmentation_max", WHICH_MAX, timeline, window, w);
    write_fragmentation("fragmentation_last", WHICH_LAST, timeline, window, w);
    write_largest_free(window, w);
}
