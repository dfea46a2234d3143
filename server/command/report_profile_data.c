#include "server/command/report_profile_data.h"

#include <inttypes.h>
#include <stdio.h>

#include "analysis/input/growing_array.h"
#include "server/document/growth_text.h"
#include "server/document/pressure_text.h"
#include "server/document/profile_advice.h"
#include "server/text/printable.h"
#include "analysis/base/size_text.h"
#include "server/text/utf8.h"

static const size_t PROFILE_ARENA_LIMIT_BYTES = (size_t)4 << 30, MEMORY_ARENA_LIMIT_BYTES = (size_t)2 << 30;
static const size_t INDEX_ARENA_LIMIT_BYTES = (size_t)1 << 30;

static void add_error(struct report_profile *p, const struct error *error) {
    report_errors_add(&p->report->errors, error);
}

static void out_of_memory(struct report_profile *p, const char *what) {
    struct error error;
    error_set(&error, ERROR_TOO_BIG, "There is not enough memory for %s.", what);
    add_error(p, &error);
}

// --- Sessions and hosts ---

static bool is_asked(const char *asked, struct bytes name) {
    return !asked || utf8_same_text(name, asked);
}

static bool add_host(struct report_profile *p, struct report_profile_session *session, const struct input_file *file) {
    struct report_profile_host *grown = growing_array_room(p->arena, p->hosts, p->host_count, sizeof *grown);
    if (!grown) return false;
    p->hosts = grown;
    grown[p->host_count++] = (struct report_profile_host){session, file};
    return true;
}

static bool list_session(struct report_profile *p, const struct catalog_session *found) {
    struct report_profile_session *session = &p->sessions[p->session_count++];
    const struct session_files *files = &found->files;
    *session = (struct report_profile_session){.name = found->name, .files = files};
    for (size_t i = 0; i < files->host_count; i++) {
        if (!is_asked(p->report->options.host, bytes_of(files->files[i].host))) continue;
        if (!add_host(p, session, &files->files[i])) return false;
    }
    return true;
}

static bool list_sessions(struct report_profile *p, const struct report_sessions *found) {
    p->sessions = arena_new(p->arena, struct report_profile_session, found->count);
    if (!p->sessions) return false;
    for (size_t i = 0; i < found->count; i++) {
        if (!list_session(p, &found->items[i])) return false;
    }
    return true;
}

static void add_name(struct report_profile_names *names, struct bytes name, struct arena *arena) {
    size_t kept = names->count < REPORT_PROFILE_NAMES_SHOWN ? names->count : REPORT_PROFILE_NAMES_SHOWN;
    for (size_t i = 0; i < kept; i++) {
        if (utf8_same_text(name, names->texts[i])) return;
    }
    const char *text = kept < REPORT_PROFILE_NAMES_SHOWN ? printable_text(name, arena) : NULL;
    if (text) names->texts[kept] = text;
    names->count = kept + 1;
}

// "vm-0, vm-1, vm-2, ..."
static const char *names_text(const struct report_profile_names *names, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    for (size_t i = 0; i < names->count; i++) {
        if (i) text_put(&text, ", ");
        text_put(&text, i < REPORT_PROFILE_NAMES_SHOWN ? names->texts[i] : "...");
    }
    const char *written = names->count ? text_writer_finish(&text) : "none";
    return written ? written : "another";
}

static void miss_host(struct report_profile *p) {
    struct report_profile_names names = {.count = 0};
    struct error error;
    for (size_t i = 0; i < p->session_count; i++) {
        const struct session_files *files = p->sessions[i].files;
        for (size_t k = 0; k < files->host_count; k++) add_name(&names, bytes_of(files->files[k].host), p->arena);
    }
    error_set(&error, ERROR_NOT_FOUND, "There is no host \"%.160s\"; there is %.250s.", p->report->options.host,
              names_text(&names, p->arena));
    add_error(p, &error);
}

const char *report_profile_session_note(const struct report_profile_session *session) {
    if (session->files->host_count) return NULL;
    return "This session has no .xplane.pb file: memory over time is recorded in those only.";
}

void report_profile_open(struct report *report, struct arena *arena, struct report_profile *p) {
    struct report_sessions found;
    *p = (struct report_profile){.report = report, .arena = arena, .over = {.arena = arena}};
    if (!report_sessions_find(&report->options, arena, &found, &report->errors)) return;
    if (!list_sessions(p, &found)) {
        out_of_memory(p, "the list of hosts");
        return;
    }
    report_sessions_tell_missing(&report->options, &found, arena, &report->errors);
    if (report->options.host && p->session_count && p->host_count == 0) miss_host(p);
}

void report_profile_tell_missing(struct report_profile *p) {
    struct error error;
    if (p->memories_asked || p->not_asked.count == 0) return;
    error_set(&error, ERROR_NOT_FOUND, "There is no memory id \"%.160s\"; there is %.250s.",
              p->report->options.memory_id, names_text(&p->not_asked, p->arena));
    add_error(p, &error);
}

// --- A file ---

static bool has_programs_in(const struct input_file *file) {
    struct arena arena;
    struct xspace_index index = {0};
    struct error ignored;
    arena_init(&arena, INDEX_ARENA_LIMIT_BYTES);
    struct byte_source *source = byte_source_open(file->path, &ignored);
    if (source && !xspace_index_read(source, &arena, &index, &ignored)) index.program_count = 0;
    byte_source_close(source);
    arena_free(&arena);
    return index.program_count > 0;
}

static bool has_programs(struct report_profile_session *session) {
    for (size_t i = 0; i < session->files->host_count && !session->knows_programs && !session->has_programs; i++)
        session->has_programs = has_programs_in(&session->files->files[i]);
    session->knows_programs = true;
    return session->has_programs;
}

static bool read_file(struct report_profile_loaded *loaded, struct error *error) {
    const char *path = loaded->host->file->path;
    struct byte_source *source = byte_source_open(path, error);
    if (!source) return error_in_file(error, path, 0);
    bool is_good = memory_profile_read(source, &loaded->arena, &loaded->profile, error);
    byte_source_close(source);
    return is_good || error_in_file(error, path, 0);
}

static void explain(struct report_profile_loaded *loaded) {
    const struct memory_profile *profile = &loaded->profile;
    loaded->reason = loaded->advice = "";
    if (profile->timeline_count) {
        loaded->state = "events";
    } else if (loaded->fault.code != ERROR_NONE) {
        loaded->state = "error";
        loaded->reason = loaded->fault.message;
    } else {
        loaded->state = profile->has_host_plane ? "no_events" : "no_host_plane";
        loaded->reason = profile_reason(profile, &loaded->arena);
        loaded->advice = profile_advice(has_programs(loaded->host->session));
    }
}

void report_profile_load(struct report_profile *p, const struct report_profile_host *host,
                         struct report_profile_loaded *loaded) {
    struct error error;
    *loaded = (struct report_profile_loaded){.host = host};
    arena_init(&loaded->arena, PROFILE_ARENA_LIMIT_BYTES);
    if (!read_file(loaded, &error)) {
        memory_profile_free(&loaded->profile);
        loaded->profile = (struct memory_profile){0};
        loaded->fault = error;
    } else if (loaded->profile.fault.code != ERROR_NONE) {
        loaded->fault = loaded->profile.fault;
        error_in_file(&loaded->fault, host->file->path, 0);
    }
    if (loaded->fault.code != ERROR_NONE) add_error(p, &loaded->fault);
    explain(loaded);
}

void report_profile_unload(struct report_profile_loaded *loaded) {
    memory_profile_free(&loaded->profile);
    arena_free(&loaded->arena);
}

// --- The limit ---

static void check_peak(struct report_profile *p, struct report_profile_memory *memory) {
    char peak_text[SIZE_TEXT_BYTES], limit_text[SIZE_TEXT_BYTES];
    int64_t limit = p->report->options.fail_over_bytes;
    const struct memory_timeline *timeline = memory->overview.timeline;
    if (limit == REPORT_ALL || !memory->knows_peak) return;
    int64_t peak = memory_timeline_used_bytes(timeline, memory->overview.summary.peak_row);
    p->peaks_checked++;
    memory->limit = peak > limit ? REPORT_PROFILE_OVER : REPORT_PROFILE_WITHIN;
    if (peak <= limit) return;
    const struct report_profile_host *host = memory->of->host;
    const char *names = arena_printf(&memory->arena, "%s / %s / %s",
                                     printable_text(bytes_of(host->session->name), &memory->arena),
                                     printable_text(bytes_of(host->file->host), &memory->arena),
                                     printable_text(timeline->memory_id, &memory->arena));
    const char *line = arena_printf(
        &memory->arena, "hbmview: %s: the peak of %s (%" PRId64 " bytes) is above %s (%" PRId64 ").\n",
        names ? names : "", size_text(peak, peak_text), peak, size_text(limit, limit_text), limit);
    p->peaks_over++;
    if (line) text_put(&p->over, line);
}

bool report_profile_tell_limit(const struct report_profile *p) {
    struct text_writer over = p->over;
    const char *lines = p->peaks_over ? text_writer_finish(&over) : NULL;
    if (lines) fputs(lines, stderr);
    if (p->report->options.fail_over_bytes != REPORT_ALL && !p->peaks_checked)
        fputs("hbmview: --fail-over: no peak is known here, so none was compared.\n", stderr);
    return p->peaks_over == 0;
}

// --- A memory ---

static uint32_t at_most(uint32_t count, int top) {
    return top != REPORT_ALL && (uint32_t)top < count ? (uint32_t)top : count;
}

bool report_profile_memory_make(struct report_profile *p, const struct report_profile_loaded *loaded, size_t i,
                                struct report_profile_memory *memory) {
    const struct memory_timeline *timeline = &loaded->profile.timelines[i];
    struct error error;
    *memory = (struct report_profile_memory){.of = loaded};
    arena_init(&memory->arena, MEMORY_ARENA_LIMIT_BYTES);
    if (!is_asked(p->report->options.memory_id, timeline->memory_id)) {
        add_name(&p->not_asked, timeline->memory_id, p->arena);
        return false;
    }
    p->memories_asked++;
    if (!profile_memory_make(&loaded->profile, timeline, &memory->arena, &memory->overview, &error)) {
        error_in_file(&error, loaded->host->file->path, 0);
        add_error(p, &error);
        return false;
    }
    memory->knows_peak = memory->overview.summary.tells.usage && memory->overview.summary.peak_row != MEMORY_EVENT_NONE;
    check_peak(p, memory);
    return true;
}

static bool look(struct report_profile_memory *memory, int top, struct error *error) {
    const struct memory_profile *profile = memory->overview.profile;
    const struct memory_timeline *timeline = memory->overview.timeline;
    struct arena *arena = &memory->arena;
    struct pressure_told told = {profile, timeline, &memory->pressure};
    uint32_t row = memory_breakdown_peak_row(profile, timeline);
    if (!memory_breakdown_make(profile, timeline, row, arena, &memory->breakdown, error) ||
        !step_growth_make(profile, timeline, arena, &memory->growth, error) ||
        !memory_pressure_make(profile, timeline, arena, &memory->pressure, error)) {
        return false;
    }
    memory->growth_text = growth_text(&memory->growth, arena);
    memory->pressure_text = pressure_text(&told, arena);
    memory->rows_shown = at_most(memory->breakdown.row_count, top);
    memory->ops_shown = at_most(memory->growth.op_count, top);
    memory->rows = breakdown_rows(profile, &memory->breakdown, memory->rows_shown, arena);
    if (memory->growth_text && memory->pressure_text && memory->rows) return true;
    return error_set(error, ERROR_TOO_BIG, "There is not enough memory for the report of this profile.");
}

bool report_profile_memory_look(struct report_profile *p, struct report_profile_memory *memory) {
    struct error error;
    if (!look(memory, p->report->options.top, &error)) {
        error_in_file(&error, memory->of->host->file->path, 0);
        add_error(p, &error);
        return false;
    }
    return true;
}

void report_profile_memory_free(struct report_profile_memory *memory) {
    arena_free(&memory->arena);
}

int64_t report_profile_rows_left_out_bytes(const struct report_profile_memory *memory) {
    uint64_t bytes = 0;
    for (uint32_t i = memory->rows_shown; i < memory->breakdown.row_count; i++)
        bytes += (uint64_t)memory->breakdown.rows[i].total_bytes;
    return (int64_t)bytes;
}
