#include "server/document/profile_memory.h"

#include "analysis/base/clamped.h"
#include "analysis/profile/questions/largest_free.h"
#include "analysis/profile/questions/timeline_silences.h"
#include "analysis/profile/questions/timeline_window.h"
#include "server/store/work.h"
#include "server/text/fields.h"

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

// The figures as they are told: those of the summary, and what follows from them.
struct told_memory {
    struct timeline_summary summary;
    struct bytes memory_id;
    uint32_t events;
    int64_t begin_ps, end_ps;
    bool has_peak, has_capacity, has_state;
    int64_t capacity_bytes, peak_bytes, peak_ps, peak_step, heap_at_end_bytes;
    int64_t stack_bytes, heap_bytes, free_bytes, largest_free_bytes;  // at the peak
    double fragmentation;
    struct xprof_counts xprof;
    bool xprof_sampled;
    int64_t xprof_lifetime_peak_bytes, xprof_peak_ps;
};

#define TOLD(name, member) FIELD(name, struct told_memory, member)
#define AT_PEAK(name, member) FIELD_IF(name, struct told_memory, member, has_peak)

static const struct field figure_fields[] = {
    TOLD("memory_id", memory_id),
    TOLD("events", events),
    TOLD("allocations", summary.allocations),
    TOLD("frees", summary.frees),
    TOLD("begin_ps", begin_ps),
    TOLD("end_ps", end_ps),
    TOLD("tells_usage", summary.tells.usage),
    TOLD("tells_free", summary.tells.free),
    FIELD_IF("capacity_bytes", struct told_memory, capacity_bytes, has_capacity),
    AT_PEAK("peak_bytes", peak_bytes),
    AT_PEAK("peak_ps", peak_ps),
    AT_PEAK("peak_row", summary.peak_row),
    AT_PEAK("peak_step", peak_step),
    AT_PEAK("lifetime_peak_bytes", summary.lifetime_peak_bytes),
    FIELD_END,
};

static const struct field at_peak_fields[] = {
    TOLD("stack_bytes", stack_bytes),
    TOLD("heap_bytes", heap_bytes),
    TOLD("free_bytes", free_bytes),
    TOLD("fragmentation", fragmentation),
    FIELD_AS("largest_free_bytes", struct told_memory, largest_free_bytes, FIELD_KNOWN),
    FIELD_END,
};

static const struct field sum_fields[] = {
    TOLD("requested_bytes", summary.requested_bytes),
    TOLD("allocated_bytes", summary.allocated_bytes),
    TOLD("held_at_begin_bytes", summary.held_at_begin_bytes),
    TOLD("held_at_end_bytes", summary.held_at_end_bytes),
    TOLD("held_allocations", summary.held_allocations),
    FIELD_IF("heap_at_end_bytes", struct told_memory, heap_at_end_bytes, has_state),
    TOLD("unreplayed_events", summary.unreplayed_events),
    FIELD_END,
};

static const struct field xprof_fields[] = {
    TOLD("allocations", xprof.allocations), TOLD("frees", xprof.frees),
    TOLD("sampled", xprof_sampled),         TOLD("lifetime_peak_bytes", xprof_lifetime_peak_bytes),
    TOLD("peak_ps", xprof_peak_ps),         FIELD_END,
};

static const struct field silence_fields[] = {
    FIELD("begin_ps", struct timeline_silence, begin_ps),
    FIELD("end_ps", struct timeline_silence, end_ps),
    FIELD_END,
};

static void write_silences(const struct memory_timeline *timeline, struct json_writer *w) {
    struct timeline_silences silences;
    timeline_silences_find(timeline, &silences);
    json_open_object_key(w, "silences");
    fields_write_columns(w, silence_fields, silences.items, silences.count, sizeof *silences.items, NULL);
    json_close_object(w);
}

static void tell_peak(const struct memory_timeline *t, uint32_t row, struct told_memory *told) {
    bool tells_free = told->summary.tells.free;
    int64_t largest = largest_free_bytes(t->free_bytes[row], t->fragmentation[row]);
    told->has_peak = true;
    told->has_capacity = tells_free;
    told->peak_bytes = memory_timeline_used_bytes(t, row);
    told->capacity_bytes = clamped_add(told->peak_bytes, t->free_bytes[row]);
    told->peak_ps = t->time_ps[row];
    told->peak_step = t->step[row];
    told->stack_bytes = t->stack_bytes[row];
    told->heap_bytes = t->heap_bytes[row];
    told->free_bytes = t->free_bytes[row];
    told->largest_free_bytes = tells_free ? largest : LARGEST_FREE_UNKNOWN;
    told->fragmentation = t->fragmentation[row];
}

static struct told_memory tell(const struct profile_memory *memory) {
    const struct memory_timeline *t = memory->timeline;
    uint32_t last = memory->summary.last_row;
    struct told_memory told = {.summary = memory->summary,
                               .memory_id = t->memory_id,
                               .events = t->count,
                               .has_state = last != MEMORY_EVENT_NONE,
                               .heap_at_end_bytes = last != MEMORY_EVENT_NONE ? t->heap_bytes[last] : 0,
                               .xprof = xprof_counts_of(memory),
                               .xprof_sampled = memory->xprof->sampled_count < t->count,
                               .xprof_lifetime_peak_bytes = memory->xprof->lifetime_peak_bytes,
                               .xprof_peak_ps = memory->xprof->peak_time_ps};
    timeline_whole(t, &told.begin_ps, &told.end_ps);
    if (told.summary.peak_row != MEMORY_EVENT_NONE) tell_peak(t, told.summary.peak_row, &told);
    return told;
}

void profile_memory_write(const struct profile_memory *memory, struct json_writer *w) {
    struct told_memory told = tell(memory);
    json_open_object(w);
    fields_write(w, figure_fields, &told);
    fields_write_object_key(w, "at_peak", at_peak_fields, told.has_peak ? &told : NULL);
    fields_write(w, sum_fields, &told);
    write_silences(memory->timeline, w);
    fields_write_object_key(w, "xprof", xprof_fields, &told);
    json_write_texts_key(w, "notes", memory->notes, memory->note_count);
    json_close_object(w);
}
