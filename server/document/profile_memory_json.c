#include "server/document/profile_memory_json.h"

#include "analysis/profile/questions/clamped.h"
#include "analysis/profile/questions/largest_free.h"
#include "analysis/profile/questions/timeline_window.h"
#include "server/document/profile_columns_json.h"
#include "server/document/profile_memory_notes.h"
#include "server/store/work.h"

bool profile_memory_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                         struct arena *arena, struct profile_memory *memory, struct error *error) {
    struct xprof_profile *xprof = arena_new(arena, struct xprof_profile, 1);
    if (!xprof) return work_out_of_memory(error);
    *memory = (struct profile_memory){.profile = profile, .timeline = timeline, .xprof = xprof};
    timeline_summary_make(profile, timeline, &memory->summary);
    if (!xprof_profile_build(profile, timeline, arena, xprof, error)) return false;
    profile_memory_notes_make(memory, arena);
    return true;
}

static void write_counts(const struct profile_memory *memory, struct json_writer *w) {
    int64_t begin_ps, end_ps;
    timeline_whole(memory->timeline, &begin_ps, &end_ps);
    json_write_string_key(w, "memory_id", memory->timeline->memory_id);
    json_write_int64_key(w, "events", memory->timeline->count);
    json_write_int64_key(w, "allocations", memory->summary.allocations);
    json_write_int64_key(w, "frees", memory->summary.frees);
    json_write_int64_key(w, "begin_ps", begin_ps);
    json_write_int64_key(w, "end_ps", end_ps);
    json_write_bool_key(w, "tells_usage", memory->summary.tells.usage);
    json_write_bool_key(w, "tells_free", memory->summary.tells.free);
}

// --- The peak ---

static void write_at_peak(const struct profile_memory *memory, uint32_t row, struct json_writer *w) {
    const struct memory_timeline *timeline = memory->timeline;
    int64_t largest = largest_free_bytes(timeline->free_bytes[row], timeline->fragmentation[row]);
    json_key(w, "at_peak");
    json_open_object(w);
    json_write_int64_key(w, "stack_bytes", timeline->stack_bytes[row]);
    json_write_int64_key(w, "heap_bytes", timeline->heap_bytes[row]);
    json_write_int64_key(w, "free_bytes", timeline->free_bytes[row]);
    fragmentation_write_key(w, "fragmentation", timeline->fragmentation[row]);
    largest_free_write_key(w, "largest_free_bytes", memory->summary.tells.free ? largest : LARGEST_FREE_UNKNOWN);
    json_close_object(w);
}

static void write_no_peak(struct json_writer *w) {
    static const char *const keys[] = {"capacity_bytes", "peak_bytes",          "peak_ps", "peak_row",
                                       "peak_step",      "lifetime_peak_bytes", "at_peak"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) json_write_text_key(w, keys[i], NULL);
}

static void write_peak(const struct profile_memory *memory, struct json_writer *w) {
    const struct memory_timeline *timeline = memory->timeline;
    uint32_t row = memory->summary.peak_row;
    if (row == MEMORY_EVENT_NONE) {
        write_no_peak(w);
        return;
    }
    int64_t used = memory_timeline_used_bytes(timeline, row);
    bytes_write_key_if(w, "capacity_bytes", memory->summary.tells.free, clamped_add(used, timeline->free_bytes[row]));
    json_write_int64_key(w, "peak_bytes", used);
    json_write_int64_key(w, "peak_ps", timeline->time_ps[row]);
    json_write_int64_key(w, "peak_row", row);
    json_write_int64_key(w, "peak_step", timeline->step[row]);
    json_write_int64_key(w, "lifetime_peak_bytes", memory->summary.lifetime_peak_bytes);
    write_at_peak(memory, row, w);
}

// --- The rest ---

static void write_sums(const struct profile_memory *memory, struct json_writer *w) {
    const struct timeline_summary *summary = &memory->summary;
    bool has_state = summary->last_row != MEMORY_EVENT_NONE;
    json_write_int64_key(w, "requested_bytes", summary->requested_bytes);
    json_write_int64_key(w, "allocated_bytes", summary->allocated_bytes);
    json_write_int64_key(w, "held_at_begin_bytes", summary->held_at_begin_bytes);
    json_write_int64_key(w, "held_at_end_bytes", summary->held_at_end_bytes);
    json_write_int64_key(w, "held_allocations", summary->held_allocations);
    bytes_write_key_if(w, "heap_at_end_bytes", has_state,
                       has_state ? memory->timeline->heap_bytes[summary->last_row] : 0);
    json_write_int64_key(w, "unreplayed_events", summary->unreplayed_events);
}

static void write_xprof(const struct profile_memory *memory, struct json_writer *w) {
    struct xprof_counts counts = xprof_counts_of(memory);
    json_key(w, "xprof");
    json_open_object(w);
    json_write_int64_key(w, "allocations", counts.allocations);
    json_write_int64_key(w, "frees", counts.frees);
    json_write_bool_key(w, "sampled", memory->xprof->sampled_count < memory->timeline->count);
    json_write_int64_key(w, "lifetime_peak_bytes", memory->xprof->lifetime_peak_bytes);
    json_write_int64_key(w, "peak_ps", memory->xprof->peak_time_ps);
    json_close_object(w);
}

void profile_memory_write(const struct profile_memory *memory, struct json_writer *w) {
    json_open_object(w);
    write_counts(memory, w);
    write_peak(memory, w);
    write_sums(memory, w);
    write_xprof(memory, w);
    json_key(w, "notes");
    json_open_array(w);
    for (size_t i = 0; i < memory->note_count; i++) json_write_text(w, memory->notes[i]);
    json_close_array(w);
    json_close_object(w);
}
