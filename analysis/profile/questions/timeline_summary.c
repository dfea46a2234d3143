#include "analysis/profile/questions/timeline_summary.h"

#include "analysis/base/clamped.h"
#include "analysis/profile/questions/held_bytes.h"

static void count_event(const struct memory_profile *profile, const struct memory_timeline *timeline, uint32_t row,
                        struct timeline_summary *summary) {
    if (memory_timeline_is_free(timeline, row)) {
        summary->frees++;
        return;
    }
    const struct allocation_site *site = &profile->sites.sites[timeline->site[row]];
    summary->allocations++;
    summary->requested_bytes = clamped_add(summary->requested_bytes, site->requested_bytes);
    summary->allocated_bytes = clamped_add(summary->allocated_bytes, site->allocated_bytes);
    if (timeline->partner[row] != MEMORY_EVENT_NONE) return;
    summary->held_allocations++;
    summary->held_at_end_bytes = clamped_add(summary->held_at_end_bytes, allocation_site_held_bytes(site));
}

static void look_at_state(const struct memory_timeline *timeline, uint32_t row, struct timeline_summary *summary) {
    if (!(timeline->flags[row] & MEMORY_EVENT_HAS_STATE)) {
        summary->stateless_events++;
        return;
    }
    bool is_first = summary->last_row == MEMORY_EVENT_NONE;
    int64_t used = memory_timeline_used_bytes(timeline, row);
    if (is_first || used > memory_timeline_used_bytes(timeline, summary->peak_row)) summary->peak_row = row;
    if (is_first || timeline->peak_bytes[row] > summary->lifetime_peak_bytes)
        summary->lifetime_peak_bytes = timeline->peak_bytes[row];
    summary->last_row = row;
}

static int64_t magnitude(int64_t bytes) {
    return bytes < 0 ? clamped_subtract(0, bytes) : bytes;
}

static void look_at_difference(struct timeline_difference difference, struct timeline_summary *summary) {
    if (timeline_difference_is_none(difference)) return;
    int64_t heap = magnitude(difference.heap_bytes), stack = magnitude(difference.stack_bytes);
    int64_t most = heap > stack ? heap : stack;
    summary->unreplayed_events++;
    if (most > summary->unreplayed_most_bytes) summary->unreplayed_most_bytes = most;
}

// What the heap was before the first event that told it, going back over what moved since.
static int64_t heap_before(const struct memory_profile *profile, const struct memory_timeline *timeline) {
    int64_t moved = 0;
    for (uint32_t row = 0; row < timeline->count; row++) {
        moved = clamped_add(moved, timeline_moved_bytes(profile, timeline, row));
        if (timeline->flags[row] & MEMORY_EVENT_HAS_STATE) return clamped_subtract(timeline->heap_bytes[row], moved);
    }
    return 0;
}

void timeline_summary_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                           struct timeline_summary *summary) {
    struct timeline_replay replay;
    *summary = (struct timeline_summary){
        .tells = timeline_tells(timeline), .peak_row = MEMORY_EVENT_NONE, .last_row = MEMORY_EVENT_NONE};
    timeline_replay_begin(&replay, profile, timeline, summary->tells, 0);
    for (uint32_t row = 0; row < timeline->count; row++) {
        count_event(profile, timeline, row, summary);
        look_at_state(timeline, row, summary);
        look_at_difference(timeline_replay_step(&replay), summary);
    }
    if (summary->tells.usage) summary->held_at_begin_bytes = heap_before(profile, timeline);
}
