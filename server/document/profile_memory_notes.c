#include "server/document/profile_memory.h"

#include <inttypes.h>

#include "analysis/base/clamped.h"
#include "analysis/base/size_text.h"

struct xprof_counts xprof_counts_of(const struct profile_memory *memory) {
    struct xprof_counts counts = {0, 0};
    for (uint32_t i = 0; i < memory->xprof->sampled_count; i++) {
        bool is_free = memory_timeline_is_free(memory->timeline, memory->xprof->sampled_rows[i]);
        counts.frees += is_free;
        counts.allocations += !is_free;
    }
    return counts;
}

static void add(struct profile_memory *memory, const char *text) {
    if (text && memory->note_count < PROFILE_MEMORY_NOTES_MAX) memory->notes[memory->note_count++] = text;
}

static double milliseconds(int64_t time_ps) {
    return (double)time_ps / 1e9;
}

// --- What the events cannot tell ---

static void note_allocator(struct profile_memory *memory, struct arena *arena) {
    const struct timeline_summary *summary = &memory->summary;
    if (!summary->tells.usage)
        add(memory,
            "This allocator keeps no statistics: heap, stack and free are 0 in all of its events. Its allocations "
            "and frees are known, what is in use is not.");
    else if (!summary->tells.free)
        add(memory, "This allocator does not tell how much is free: capacity and largest free block are not known.");
    if (summary->stateless_events)
        add(memory, arena_printf(arena,
                                 "%" PRIu32 " of %" PRIu32
                                 " events do not tell how much is in use after them; the curves pass over them.",
                                 summary->stateless_events, memory->timeline->count));
}

static void note_begin(struct profile_memory *memory, struct arena *arena) {
    int64_t held = memory->summary.held_at_begin_bytes;
    if (held > 0)
        add(memory, arena_printf(arena,
                                 "%s were in use before the first event: allocated before profiling began, so nothing "
                                 "here can say by what.",
                                 size_exact_string(held, arena)));
    if (held < 0)
        add(memory, arena_printf(arena,
                                 "After its first event this memory holds %s less than that event allocated: others "
                                 "freed meanwhile, unseen.",
                                 size_exact_string(clamped_subtract(0, held), arena)));
}

static void note_replay(struct profile_memory *memory, struct arena *arena) {
    const struct timeline_summary *summary = &memory->summary;
    if (summary->unreplayed_events)
        add(memory,
            arena_printf(arena,
                         "%" PRIu32 " of %" PRIu32
                         " events tell another heap or stack than the event before them plus or minus what they moved, "
                         "by %s at most: threads that report at the same time, or events that were not recorded.",
                         summary->unreplayed_events, memory->timeline->count,
                         size_exact_string(summary->unreplayed_most_bytes, arena)));
    uint32_t reused = memory->timeline->reused_address_count;
    if (reused)
        add(memory, arena_printf(arena,
                                 "%" PRIu32
                                 " allocation(s) reuse an address whose last allocation was never seen freed; that one "
                                 "still counts as held.",
                                 reused));
}

// --- Where XProf shows something else ---

static void note_xprof_counts(struct profile_memory *memory, struct arena *arena) {
    struct xprof_counts counts = xprof_counts_of(memory);
    if (memory->xprof->sampled_count == memory->timeline->count) return;
    add(memory,
        arena_printf(arena,
                     "XProf shows %" PRIu32 " allocations and %" PRIu32 " deallocations: those among the %" PRIu32
                     " events it samples. Here all %" PRIu32 " events are counted.",
                     counts.allocations, counts.frees, memory->xprof->sampled_count, memory->timeline->count));
}

static void note_xprof_peaks(struct profile_memory *memory, struct arena *arena) {
    const struct timeline_summary *summary = &memory->summary;
    if (summary->peak_row == MEMORY_EVENT_NONE) return;
    if (memory->xprof->lifetime_peak_bytes != summary->lifetime_peak_bytes)
        add(memory, arena_printf(arena,
                                 "XProf shows a lifetime peak of %s: what the last event in the file says, not the "
                                 "highest.",
                                 size_exact_string(memory->xprof->lifetime_peak_bytes, arena)));
    if (memory->xprof->peak_row != summary->peak_row && memory->xprof->peak_row != MEMORY_EVENT_NONE)
        add(memory,
            arena_printf(arena,
                         "The peak is reached more than once; XProf shows the last time in the file's order, at "
                         "%.3f ms, here it is the first, at %.3f ms.",
                         milliseconds(memory->xprof->peak_time_ps),
                         milliseconds(memory->timeline->time_ps[summary->peak_row])));
}

static void note_order(struct profile_memory *memory) {
    if (memory->profile->lines_start_together) return;
    add(memory,
        "The threads of this profile were not recorded from the same moment. XProf takes each event's time since "
        "its own thread's first moment, so its times and its order of events differ; here they are on one clock.");
}

void profile_memory_notes_make(struct profile_memory *memory, struct arena *arena) {
    memory->note_count = 0;
    note_allocator(memory, arena);
    note_begin(memory, arena);
    note_replay(memory, arena);
    note_xprof_counts(memory, arena);
    note_xprof_peaks(memory, arena);
    note_order(memory);
}
