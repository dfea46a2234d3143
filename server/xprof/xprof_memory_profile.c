#include "server/xprof/xprof_memory_profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "analysis/profile/events/data_type_name.h"
#include "analysis/profile/xprof/xprof_profile.h"
#include "server/store/work.h"
#include "server/xprof/xprof_words.h"

enum { JSON_VERSION = 1, HOSTS_PER_FILE = 1 };

// Unlike xprof_int64_key this writes a zero, too.
static void int64_key(struct json_writer *w, const char *key, int64_t value) {
    json_key(w, key);
    json_write_int64_text(w, value);
}

static void address_key(struct json_writer *w, uint64_t address) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, address);
    json_write_text_key(w, "address", text);
}

// Protobuf's words for what JSON has no numbers for.
static void double_key(struct json_writer *w, const char *key, double value) {
    json_key(w, key);
    if (isnan(value))
        json_write_text(w, "NaN");
    else if (isinf(value))
        json_write_text(w, value > 0 ? "Infinity" : "-Infinity");
    else
        json_write_double(w, value);
}

// --- An event ---

// The state of the allocator; `peak_bytes` is the event's own, or the peak's where this describes the peak.
static void write_state(const struct memory_timeline *timeline, uint32_t row, int64_t peak_bytes,
                        struct json_writer *w) {
    bool is_told = row != MEMORY_EVENT_NONE;
    bool is_integer = is_told && timeline->flags[row] & MEMORY_EVENT_INTEGER_FRAGMENTATION;
    json_open_object(w);
    int64_key(w, "stackReservedBytes", is_told ? timeline->stack_bytes[row] : 0);
    int64_key(w, "heapAllocatedBytes", is_told ? timeline->heap_bytes[row] : 0);
    int64_key(w, "freeMemoryBytes", is_told ? timeline->free_bytes[row] : 0);
    double_key(w, "fragmentation", is_told && !is_integer ? timeline->fragmentation[row] : 0);
    int64_key(w, "peakBytesInUse", peak_bytes);
    json_close_object(w);
}

struct activity {
    bool is_free;
    uint64_t address;
    int64_t step;
    const struct allocation_site *sizes, *texts;
};

static void write_activity(const struct activity *activity, struct json_writer *w) {
    char buffer[DATA_TYPE_NAME_BYTES];
    json_open_object(w);
    json_write_text_key(w, "memoryActivity", activity->is_free ? "DEALLOCATION" : "ALLOCATION");
    int64_key(w, "requestedBytes", activity->sizes->requested_bytes);
    int64_key(w, "allocationBytes", activity->sizes->allocated_bytes);
    address_key(w, activity->address);
    json_write_string_key(w, "tfOpName", activity->texts->op);
    int64_key(w, "stepId", activity->step);
    json_write_string_key(w, "regionType", activity->texts->region_type);
    json_write_text_key(w, "dataType", data_type_name(activity->texts->data_type, buffer));
    json_write_string_key(w, "tensorShape", activity->texts->shape);
    json_close_object(w);
}

static void write_snapshot(const struct xprof_order *order, uint32_t row, struct json_writer *w) {
    const struct memory_timeline *timeline = order->timeline;
    struct activity activity = {
        .is_free = memory_timeline_is_free(timeline, row),
        .address = timeline->address[row],
        .step = order->step[row],
        .sizes = &order->profile->sites.sites[timeline->site[row]],
        .texts = xprof_order_texts(order, row),
    };
    json_open_object(w);
    int64_key(w, "timeOffsetPs", xprof_order_time_ps(order, row));
    json_key(w, "aggregationStats");
    write_state(timeline, row, timeline->peak_bytes[row], w);
    json_key(w, "activityMetadata");
    write_activity(&activity, w);
    json_close_object(w);
}

// --- One memory ---

static void write_row_snapshots(const struct xprof_profile *made, struct json_writer *w) {
    json_open_array_key(w, "memoryProfileSnapshots");
    for (uint32_t i = 0; i < made->breakdown.count; i++) {
        uint32_t row = made->breakdown.allocations[i].row;
        if (row != MEMORY_EVENT_NONE) write_snapshot(&made->order, row, w);
    }
    json_close_array(w);
}

static void write_summary(const struct xprof_profile *made, struct json_writer *w) {
    json_open_object_key(w, "profileSummary");
    int64_key(w, "peakBytesUsageLifetime", made->lifetime_peak_bytes);
    json_key(w, "peakStats");
    write_state(made->order.timeline, made->peak_row, made->peak_bytes, w);
    int64_key(w, "peakStatsTimePs", made->peak_time_ps);
    int64_key(w, "memoryCapacity", made->capacity_bytes);
    json_close_object(w);
}

// A row names its event by its place in memoryProfileSnapshots, or its special allocation by -1, -2.
static void write_rows(const struct xprof_breakdown *breakdown, struct json_writer *w) {
    int64_t snapshot = 0;
    json_open_array_key(w, "activeAllocations");
    for (uint32_t i = 0; i < breakdown->count; i++) {
        const struct xprof_allocation *allocation = &breakdown->allocations[i];
        bool is_special = allocation->special != XPROF_NOT_SPECIAL;
        json_open_object(w);
        int64_key(w, "snapshotIndex", is_special ? -1 - allocation->special : snapshot++);
        int64_key(w, "specialIndex", allocation->special);
        int64_key(w, "numOccurrences", allocation->occurrences);
        json_close_object(w);
    }
    json_close_array(w);
}

static void write_specials(const struct xprof_profile *made, struct json_writer *w) {
    json_open_array_key(w, "specialAllocations");
    for (uint32_t i = 0; i < made->breakdown.special_count; i++) {
        const struct allocation_site *site = &made->breakdown.specials[i];
        write_activity(&(struct activity){.step = made->peak_step, .sizes = site, .texts = site}, w);
    }
    json_close_array(w);
}

static void write_samples(const struct xprof_profile *made, struct json_writer *w) {
    json_open_array_key(w, "sampledTimelineSnapshots");
    for (uint32_t i = 0; i < made->sampled_count; i++) write_snapshot(&made->order, made->sampled_rows[i], w);
    json_close_array(w);
}

static void write_made(const struct xprof_profile *made, struct json_writer *w) {
    json_open_object(w);
    write_row_snapshots(made, w);
    write_summary(made, w);
    write_rows(&made->breakdown, w);
    write_specials(made, w);
    write_samples(made, w);
    json_close_object(w);
}

static bool write_memory(const struct memory_profile *profile, const struct memory_timeline *timeline,
                         struct json_writer *w, struct error *error) {
    struct arena scratch;
    struct xprof_profile made;
    arena_init(&scratch, WORK_ARENA_LIMIT_BYTES);
    bool is_good = xprof_profile_build(profile, timeline, &scratch, &made, error);
    if (is_good) write_made(&made, w);
    arena_free(&scratch);
    return is_good;
}

static bool write_memories(const struct memory_profile *profile, struct json_writer *w, struct error *error) {
    json_open_object_key(w, "memoryProfilePerAllocator");
    for (size_t i = 0; i < profile->timeline_count; i++) {
        json_write_string(w, profile->timelines[i].memory_id);
        json_end_key(w);
        if (!write_memory(profile, &profile->timelines[i], w, error)) return false;
    }
    json_close_object(w);
    return true;
}

// --- The host ---

static void write_memory_ids(const struct memory_profile *profile, struct json_writer *w) {
    json_open_array_key(w, "memoryIds");
    for (size_t i = 0; i < profile->timeline_count; i++) json_write_string(w, profile->timelines[i].memory_id);
    json_close_array(w);
}

static int64_t since_line(const struct module_run *run, int64_t time_ps) {
    return (int64_t)((uint64_t)time_ps - (uint64_t)run->line_begin_ps);
}

static void write_modules(const struct memory_profile *profile, struct json_writer *w) {
    json_open_array_key(w, "hloModules");
    for (size_t i = 0; i < profile->module_run_count; i++) {
        const struct module_run *run = &profile->module_runs[i];
        json_open_object(w);
        json_write_string_key(w, "name", run->name);
        int64_key(w, "startTimePs", since_line(run, run->begin_ps));
        int64_key(w, "endTimePs", since_line(run, run->end_ps));
        int64_key(w, "id", (int64_t)i);
        json_write_string_key(w, "planeName", run->device);
        json_close_object(w);
    }
    json_close_array(w);
}

bool xprof_memory_profile_write(const struct memory_profile *profile, struct json_writer *w, struct error *error) {
    json_open_object(w);
    if (!write_memories(profile, w, error)) return false;
    json_write_int64_key(w, "numHosts", HOSTS_PER_FILE);
    write_memory_ids(profile, w);
    json_write_int64_key(w, "version", JSON_VERSION);
    write_modules(profile, w);
    json_close_object(w);
    return true;
}
