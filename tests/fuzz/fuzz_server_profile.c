// Any bytes as a profile: every document that is written of its memory over time is JSON (the overview, the timeline,
// events, who holds memory, steps, pressure, findings, XProf's own), and whoever writes in words gets to the end.
//
//     make fuzz T=server_profile
#include <assert.h>
#include <jansson.h>

#include "analysis/profile/memory_profile.h"
#include "server/document/breakdown_json.h"
#include "server/document/findings_document.h"
#include "server/document/growth_document.h"
#include "server/document/pressure_document.h"
#include "server/document/profile_advice.h"
#include "server/document/profile_events_json.h"
#include "server/document/profile_memory.h"
#include "server/document/timeline_window_json.h"
#include "server/xprof/xprof_memory_profile.h"

enum { ARENA_LIMIT_BYTES = 256 << 20, OUTPUT_BYTES = 64 << 20, CONTENT_BYTES_MAX = 1 << 20 };
enum { MEMORIES_LOOKED_AT = 3, BUCKETS = 16, EVENTS = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// What is written of one memory, all of it from the same parts.
struct subject {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    struct arena *arena;
};

typedef bool write_members(const struct subject *subject, struct json_writer *w, struct error *error);

// A memory's name may be a key (XProf's), and hold a NUL: that is JSON, though not to jansson.
static void check_json(const struct output *output, bool is_written) {
    if (!is_written || output->failed) return;
    json_error_t fault;
    json_t *document = json_loadb(output->data, output->size, JSON_ALLOW_NUL, &fault);
    assert(document || json_error_code(&fault) == json_error_null_byte_in_key);
    json_decref(document);
}

static void check_members(write_members *write, const struct subject *subject) {
    struct error error;
    struct output output;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    json_open_object(&w);
    bool is_written = write(subject, &w, &error);
    json_close_object(&w);
    check_json(&output, is_written);
    output_free(&output);
}

// --- One memory ---

static bool write_overview(const struct subject *subject, struct json_writer *w, struct error *error) {
    struct profile_memory memory;
    if (!profile_memory_make(subject->profile, subject->timeline, subject->arena, &memory, error)) return false;
    assert(memory.note_count <= PROFILE_MEMORY_NOTES_MAX);
    json_open_array_key(w, "memories");
    profile_memory_write(&memory, w);
    json_close_array(w);
    return true;
}

static bool write_timeline(const struct subject *subject, struct json_writer *w, struct error *error) {
    struct timeline_pyramid pyramid;
    struct timeline_window window;
    int64_t from_ps, to_ps;
    (void)error;
    timeline_whole(subject->timeline, &from_ps, &to_ps);
    return timeline_pyramid_build(subject->timeline, subject->arena, &pyramid) &&
           timeline_window_query(&pyramid, subject->timeline, from_ps, to_ps, BUCKETS, subject->arena, &window) &&
           timeline_window_write(subject->timeline, &pyramid, &window, subject->arena, w);
}

static bool write_events(const struct subject *subject, struct json_writer *w, struct error *error) {
    struct profile_event_list list;
    struct timeline_replay replay;
    if (!profile_event_list_make(subject->profile, subject->timeline, 1, EVENTS, subject->arena, &list)) return false;
    timeline_replay_begin(&replay, subject->profile, subject->timeline, timeline_tells(subject->timeline), 0);
    while (replay.row < subject->timeline->count) {
        uint32_t row = replay.row;
        if (!profile_event_list_take(&list, row, timeline_replay_step(&replay))) break;
    }
    assert(list.count <= EVENTS);
    return profile_events_write(&list, subject->arena, w, error);
}

// --- Questions about it ---

static bool write_breakdown(const struct subject *subject, struct json_writer *w, struct error *error) {
    struct memory_breakdown breakdown;
    uint32_t peak = memory_breakdown_peak_row(subject->profile, subject->timeline);
    if (!memory_breakdown_make(subject->profile, subject->timeline, peak, subject->arena, &breakdown, error))
        return false;
    const struct breakdown_row *rows = breakdown_rows(subject->profile, &breakdown, breakdown.row_count,
                                                      subject->arena);
    if (!rows) return false;
    breakdown_moment_write(subject->timeline, &breakdown, true, w);
    fields_write_columns(w, breakdown_fields, rows, breakdown.row_count, sizeof *rows, NULL);
    fields_write_columns(w, breakdown_when_fields, rows, breakdown.row_count, sizeof *rows, NULL);
    return true;
}

static bool write_growth(const struct subject *subject, struct json_writer *w, struct error *error) {
    struct step_growth growth;
    if (!step_growth_make(subject->profile, subject->timeline, subject->arena, &growth, error)) return false;
    growth_verdict_write(&growth, growth_text(&growth, subject->arena), w);
    fields_write_columns(w, growth_op_field, growth.ops, growth.op_count, sizeof *growth.ops, NULL);
    fields_write_columns(w, growth_slope_fields, growth.ops, growth.op_count, sizeof *growth.ops, NULL);
    json_open_array_key(w, "texts");
    for (uint32_t i = 0; i < growth.op_count; i++)
        json_write_text(w, growth_op_text(&growth, &growth.ops[i], subject->arena));
    json_close_array(w);
    return true;
}

static bool write_pressure(const struct subject *subject, struct json_writer *w, struct error *error) {
    struct memory_pressure pressure;
    if (!memory_pressure_make(subject->profile, subject->timeline, subject->arena, &pressure, error)) return false;
    const struct pressure_told told = {subject->profile, subject->timeline, &pressure};
    return pressure_json_write(&told, subject->arena, w);
}

static bool write_findings(const struct subject *subject, struct json_writer *w, struct error *error) {
    struct timeline_summary summary;
    struct memory_breakdown breakdown;
    struct step_growth growth;
    struct memory_pressure pressure;
    struct profile_findings findings;
    const struct profile_evidence evidence = {subject->profile, subject->timeline, &summary,
                                              &breakdown,       &growth,           &pressure};
    const struct findings_told told = {&evidence, &findings};
    uint32_t peak = memory_breakdown_peak_row(subject->profile, subject->timeline);
    timeline_summary_make(subject->profile, subject->timeline, &summary);
    return memory_breakdown_make(subject->profile, subject->timeline, peak, subject->arena, &breakdown, error) &&
           step_growth_make(subject->profile, subject->timeline, subject->arena, &growth, error) &&
           memory_pressure_make(subject->profile, subject->timeline, subject->arena, &pressure, error) &&
           profile_findings_make(&evidence, subject->arena, &findings, error) &&
           findings_json_write(&told, subject->arena, w);
}

static void write_memory(const struct memory_profile *profile, const struct memory_timeline *timeline) {
    write_members *const documents[] = {write_overview, write_timeline, write_events,  write_breakdown,
                                        write_growth,   write_pressure, write_findings};
    struct arena arena;
    arena_init(&arena, ARENA_LIMIT_BYTES);
    const struct subject subject = {profile, timeline, &arena};
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) check_members(documents[i], &subject);
    arena_free(&arena);
}

// --- The host ---

static bool write_head(const struct subject *subject, struct json_writer *w, struct error *error) {
    const struct memory_profile *profile = subject->profile;
    (void)error;
    profile_head_write(profile, &profile->fault, profile_state(profile, &profile->fault), w);
    json_write_text_key(w, "reason", profile_reason(profile, subject->arena));
    json_write_text_key(w, "left_out", profile_left_out(profile, "host", subject->arena));
    return true;
}

// Of a file that is damaged XProf tells nothing.
static void write_as_xprof(const struct memory_profile *profile) {
    struct error error;
    struct output output;
    if (!profile->has_host_plane || profile->fault.code != ERROR_NONE) return;
    output_init(&output, OUTPUT_BYTES);
    struct json_writer w = json_writer_on(&output);
    check_json(&output, xprof_memory_profile_write(profile, &w, &error));
    output_free(&output);
}

static void write_profile(struct byte_source *source) {
    struct arena arena;
    struct memory_profile profile;
    struct error error;
    arena_init(&arena, ARENA_LIMIT_BYTES);
    if (memory_profile_read(source, &arena, &profile, &error)) {
        check_members(write_head, &(struct subject){&profile, NULL, &arena});
        write_as_xprof(&profile);
        for (size_t i = 0; i < profile.timeline_count && i < MEMORIES_LOOKED_AT; i++)
            write_memory(&profile, &profile.timelines[i]);
    }
    memory_profile_free(&profile);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct error error;
    uint64_t reached;
    struct byte_source *source = byte_source_of_memory((struct bytes){data, size}, "input.xplane.pb", &error);
    assert(source);
    bool is_whole = byte_source_reach(source, CONTENT_BYTES_MAX, &reached, &error);
    if (!is_whole || reached < CONTENT_BYTES_MAX) write_profile(source);  // else a gzip bomb: bounded, but slow
    byte_source_close(source);
    return 0;
}
