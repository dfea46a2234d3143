// Any bytes as a profile: the memory profile ends, its columns agree with each other, and every question about it is
// answered.
#include <stdlib.h>

#include "analysis/profile/questions/memory_breakdown.h"
#include "analysis/profile/questions/memory_pressure.h"
#include "analysis/profile/questions/profile_findings.h"
#include "analysis/profile/questions/op_totals.h"
#include "analysis/profile/questions/size_histogram.h"
#include "analysis/profile/questions/step_growth.h"
#include "analysis/profile/questions/timeline_silences.h"
#include "analysis/profile/questions/timeline_summary.h"
#include "analysis/profile/questions/timeline_window.h"
#include "analysis/profile/xprof/xprof_profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ARENA_BYTES = 256 << 20, MAX_CONTENT_BYTES = 4 << 20, BUCKETS = 16 };

static void require(bool holds) {
    if (!holds) abort();
}

// --- The columns ---

static void check_partner(const struct memory_timeline *timeline, uint32_t row) {
    uint32_t partner = timeline->partner[row];
    if (partner == MEMORY_EVENT_NONE) return;
    require(partner < timeline->count && timeline->partner[partner] == row);
    require(timeline->address[partner] == timeline->address[row]);
    require(memory_timeline_is_free(timeline, row) == (partner < row));
    require(memory_timeline_is_free(timeline, row) != memory_timeline_is_free(timeline, partner));
}

static void check_row(const struct memory_profile *profile, const struct memory_timeline *timeline, uint32_t row) {
    require(row == 0 || timeline->time_ps[row - 1] <= timeline->time_ps[row]);
    require(timeline->site[row] < profile->sites.count && timeline->thread[row] < profile->thread_count);
    require(memory_timeline_row_at(timeline, timeline->time_ps[row]) <= row);
    check_partner(timeline, row);
}

static void check_columns(const struct memory_profile *profile) {
    uint64_t events = 0;
    for (size_t i = 0; i < profile->timeline_count; i++) {
        const struct memory_timeline *timeline = &profile->timelines[i];
        require(timeline->count > 0 && timeline->file_order.last < timeline->count);
        require(i == 0 || bytes_compare(profile->timelines[i - 1].memory_id, timeline->memory_id) < 0);
        require(memory_profile_timeline(profile, timeline->memory_id) == timeline);
        for (uint32_t row = 0; row < timeline->count; row++) check_row(profile, timeline, row);
        events += timeline->count;
    }
    require(events == profile->event_count);
    require(profile->lines_start_together || profile->thread_count > 1);
}

// --- The questions ---

static void check_breakdown(const struct memory_profile *profile, const struct memory_timeline *timeline, uint32_t row,
                            struct arena *arena) {
    struct memory_breakdown breakdown;
    struct error error;
    if (!memory_breakdown_make(profile, timeline, row, arena, &breakdown, &error)) return;
    uint64_t sum = (uint64_t)breakdown.unexplained_bytes;
    for (uint32_t i = 0; i < breakdown.row_count; i++) sum += (uint64_t)breakdown.rows[i].total_bytes;
    require(breakdown.row == row);
    if (breakdown.heap_is_told) require(breakdown.heap_bytes == timeline->heap_bytes[row]);
    (void)sum;  // sizes may be hostile enough to be clamped: test_memory_breakdown checks sums
}

static void check_window(const struct memory_timeline *timeline, struct arena *arena) {
    struct timeline_pyramid pyramid;
    struct timeline_window window;
    int64_t from, to;
    if (!timeline_pyramid_build(timeline, arena, &pyramid)) return;
    timeline_whole(timeline, &from, &to);
    if (!timeline_window_query(&pyramid, timeline, from, to, BUCKETS, arena, &window)) return;
    uint32_t events = 0;
    for (uint32_t i = 0; i < window.entry_count; i++) {
        require(window.entries[i].bucket < BUCKETS);
        require(i == 0 || window.entries[i - 1].bucket <= window.entries[i].bucket);
        require(window.entries[i].first_row == window.first_row + events);
        events += window.entries[i].count;
    }
    require(window.first_row + events == window.end_row && window.end_row <= timeline->count);
}

static void check_as_xprof(const struct memory_profile *profile, const struct memory_timeline *timeline,
                           struct arena *arena) {
    struct xprof_profile made;
    struct error error;
    if (!xprof_profile_build(profile, timeline, arena, &made, &error)) return;
    require(made.sampled_count <= timeline->count && made.sampled_count <= 1000);
    for (uint32_t i = 0; i < made.sampled_count; i++) require(made.sampled_rows[i] < timeline->count);
}

static void check_silences(const struct memory_timeline *timeline) {
    struct timeline_silences silences;
    timeline_silences_find(timeline, &silences);
    require(silences.count <= TIMELINE_SILENCES_MAX);
    for (uint32_t i = 0; i < silences.count; i++) {
        require(silences.items[i].begin_ps < silences.items[i].end_ps);
        require(i == 0 || silences.items[i - 1].end_ps <= silences.items[i].begin_ps);
    }
}

static void check_findings(const struct profile_evidence *evidence, struct arena *arena) {
    struct profile_findings findings;
    struct error error;
    if (!profile_findings_make(evidence, arena, &findings, &error)) return;
    require(findings.count <= PROFILE_FINDINGS_MAX);
    for (size_t i = 0; i < findings.count; i++) {
        require(findings.items[i].row < evidence->timeline->count);
        require(findings.items[i].kind < FINDING_KIND_COUNT && findings.items[i].from_ps <= findings.items[i].to_ps);
        require(i == 0 || findings.items[i - 1].kind < findings.items[i].kind);
    }
}

static void ask_the_rest(const struct memory_profile *profile, const struct memory_timeline *timeline,
                         struct arena *arena) {
    struct memory_pressure pressure;
    struct op_totals totals;
    struct memory_breakdown breakdown;
    struct step_growth growth;
    struct timeline_summary summary;
    struct allocation_histograms histograms;
    struct error error;
    timeline_summary_make(profile, timeline, &summary);
    allocation_histograms_make(profile, timeline, &histograms);
    (void)!op_totals_make(profile, timeline, arena, &totals, &error);
    check_silences(timeline);
    uint32_t peak = memory_breakdown_peak_row(profile, timeline);
    if (!memory_pressure_make(profile, timeline, arena, &pressure, &error) ||
        !memory_breakdown_make(profile, timeline, peak, arena, &breakdown, &error) ||
        !step_growth_make(profile, timeline, arena, &growth, &error))
        return;
    check_findings(&(struct profile_evidence){profile, timeline, &summary, &breakdown, &growth, &pressure}, arena);
}

static void ask(const struct memory_profile *profile, const struct memory_timeline *timeline) {
    struct arena arena;
    arena_init(&arena, ARENA_BYTES);
    check_breakdown(profile, timeline, memory_breakdown_peak_row(profile, timeline), &arena);
    check_breakdown(profile, timeline, timeline->count - 1, &arena);
    check_window(timeline, &arena);
    check_as_xprof(profile, timeline, &arena);
    ask_the_rest(profile, timeline, &arena);
    arena_free(&arena);
}

static void check(struct byte_source *source) {
    struct arena arena;
    struct memory_profile profile;
    struct error error;
    arena_init(&arena, ARENA_BYTES);
    bool ok = memory_profile_read(source, &arena, &profile, &error);
    const struct error *fault = ok ? &profile.fault : &error;
    if (fault->code != ERROR_NONE) require(fault->code < ERROR_CODE_COUNT && fault->message[0]);
    require(ok || error.code != ERROR_NONE);
    if (ok) check_columns(&profile);
    for (size_t i = 0; ok && i < profile.timeline_count && i < 4; i++) ask(&profile, &profile.timelines[i]);
    memory_profile_free(&profile);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error;
    uint64_t reached;
    struct byte_source *source = byte_source_of_memory((struct bytes){data, size}, "input.xplane.pb", &error);
    require(source != NULL);
    bool is_whole = byte_source_reach(source, MAX_CONTENT_BYTES, &reached, &error);
    if (!is_whole || reached < MAX_CONTENT_BYTES) check(source);  // else a gzip bomb: bounded, but slow
    byte_source_close(source);
    return 0;
}
