#include "server/command/report_profile_data.h"

#include <inttypes.h>
#include <stdio.h>

#include "server/document/growth_document.h"
#include "server/document/pressure_document.h"
#include "server/document/profile_advice.h"
#include "server/store/module_list.h"
#include "server/store/profile_store.h"
#include "server/text/printable.h"
#include "analysis/base/size_text.h"
#include "server/text/utf8.h"

static const size_t MEMORY_ARENA_LIMIT_BYTES = (size_t)2 << 30;

// --- Sessions and hosts ---

static bool is_asked(const char *asked, struct bytes name) {
    return !asked || utf8_same_text(name, asked);
}

static bool list_session(struct report_profile *p, const struct catalog_session *found) {
    struct report_profile_session *session = &p->sessions[p->session_count++];
    *session = (struct report_profile_session){.found = found, .first_host = p->host_count};
    for (size_t i = 0; i < found->files.host_count; i++) {
        const struct input_file *file = &found->files.files[i];
        if (is_asked(p->report->options.host, bytes_of(file->host)))
            p->hosts[p->host_count++] = (struct report_profile_host){session, file};
    }
    return report_across_begin(&session->across, p->report, p->host_count - session->first_host);
}

static bool list_sessions(struct report_profile *p) {
    const struct report *report = p->report;
    size_t host_count = 0;
    for (size_t i = 0; i < report->session_count; i++) host_count += report->sessions[i].files.host_count;
    p->sessions = arena_new(p->arena, struct report_profile_session, report->session_count);
    p->hosts = arena_new(p->arena, struct report_profile_host, host_count);
    if (!p->sessions || !p->hosts) return false;
    bool is_good = true;
    for (size_t i = 0; is_good && i < report->session_count; i++) is_good = list_session(p, &report->sessions[i]);
    return is_good;
}

static void miss_host(struct report_profile *p) {
    struct known_names names = {.count = 0};
    for (size_t i = 0; i < p->session_count; i++) {
        const struct session_files *files = &p->sessions[i].found->files;
        for (size_t k = 0; k < files->host_count; k++)
            known_names_add(&names, bytes_of(files->files[k].host), p->arena);
    }
    report_errors_say(&p->report->errors, ERROR_NOT_FOUND, NULL, "There is no host \"%.160s\"; there is %.250s.",
                      p->report->options.host, known_names_text(&names, KNOWN_NAMES_FEW, p->arena));
}

const char *report_profile_session_note(const struct report_profile_session *session) {
    return session->found->files.host_count ? NULL : profile_no_file_note;
}

void report_profile_open(struct report *report, struct report_profile *p) {
    struct arena *arena = &report->work.arena;
    *p = (struct report_profile){.report = report, .arena = arena, .over = {.arena = arena}};
    if (!report_find_sessions(report)) return;
    if (!list_sessions(p)) {
        report_errors_say(&report->errors, ERROR_TOO_BIG, NULL, "There is not enough memory for the list of hosts.");
        return;
    }
    report_tell_missing(report);
    if (report->options.host && p->session_count && p->host_count == 0) miss_host(p);
}

void report_profile_tell_missing(struct report_profile *p) {
    if (p->memories_asked || p->not_asked.count == 0) return;
    report_errors_say(&p->report->errors, ERROR_NOT_FOUND, NULL, "There is no memory id \"%.160s\"; there is %.250s.",
                      p->report->options.memory_id, known_names_text(&p->not_asked, KNOWN_NAMES_FEW, p->arena));
}

// --- A file ---

static bool has_programs(struct report_profile *p, struct report_profile_session *session) {
    const struct catalog_session *found = session->found;
    const struct session opened = {found->name, found->version, found->files, true};
    struct error unsure = {0};
    if (!session->knows_programs) session->has_programs = module_list_has_any(&p->report->work, &opened, &unsure);
    if (unsure.code != ERROR_NONE) report_errors_add(&p->report->errors, &unsure);
    session->knows_programs = true;
    return session->has_programs;
}

static void explain(struct report_profile *p, struct report_profile_loaded *loaded) {
    bool lacks_events = !loaded->profile->timeline_count && loaded->fault.code == ERROR_NONE;
    loaded->state = profile_state(loaded->profile, &loaded->fault);
    loaded->reason = loaded->advice = "";
    if (!loaded->profile->timeline_count) loaded->reason = loaded->fault.message;
    if (!lacks_events) return;
    loaded->reason = profile_reason(loaded->profile, &loaded->work.arena);
    loaded->advice = profile_advice(has_programs(p, loaded->host->session));
}

void report_profile_load(struct report_profile *p, const struct report_profile_host *host,
                         struct report_profile_loaded *loaded) {
    static const struct memory_profile nothing = {0};
    *loaded = (struct report_profile_loaded){.host = host};
    work_init_for(&loaded->work, &p->report->work);
    progress_step(p->report->options.progress, "host", (size_t)(host - p->hosts) + 1, p->host_count);
    loaded->profile = profile_store_load(&loaded->work, host->file, &loaded->fault);
    if (loaded->profile)
        loaded->fault = loaded->profile->fault;
    else
        loaded->profile = &nothing;
    if (loaded->fault.code != ERROR_NONE) {
        error_in_file(&loaded->fault, host->file->path, 0);
        report_errors_add(&p->report->errors, &loaded->fault);
    }
    explain(p, loaded);
}

void report_profile_take_peaks(const struct report_profile_loaded *loaded) {
    const struct report_profile_host *host = loaded->host;
    report_across_take(&host->session->across, host->file->host, loaded->profile, &loaded->fault);
}

void report_profile_unload(struct report_profile_loaded *loaded) {
    work_free(&loaded->work);
}

// --- The limit ---

static void check_peak(struct report_profile *p, struct report_profile_memory *memory) {
    int64_t limit = p->report->options.fail_over_bytes;
    const struct memory_timeline *timeline = memory->overview.timeline;
    if (limit == REPORT_ALL || !memory->knows_peak) return;
    int64_t peak = memory_timeline_used_bytes(timeline, memory->overview.summary.peak_row);
    p->peaks_checked++;
    memory->limit = peak > limit ? REPORT_PROFILE_OVER : REPORT_PROFILE_WITHIN;
    if (peak <= limit) return;
    const struct report_profile_host *host = memory->of->host;
    const char *names = arena_printf(&memory->arena, "%s / %s / %s",
                                     printable_text(bytes_of(host->session->found->name), &memory->arena),
                                     printable_text(bytes_of(host->file->host), &memory->arena),
                                     printable_text(timeline->memory_id, &memory->arena));
    const char *line = arena_printf(
        &memory->arena, "hbmview: %s: the peak of %s (%" PRId64 " bytes) is above %s (%" PRId64 ").\n",
        names ? names : "", size_string(peak, &memory->arena), peak, size_string(limit, &memory->arena), limit);
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

bool report_profile_memory_make(struct report_profile *p, const struct report_profile_loaded *loaded, size_t i,
                                struct report_profile_memory *memory) {
    const struct memory_timeline *timeline = &loaded->profile->timelines[i];
    struct error error;
    *memory = (struct report_profile_memory){.of = loaded};
    arena_init(&memory->arena, MEMORY_ARENA_LIMIT_BYTES);
    if (!is_asked(p->report->options.memory_id, timeline->memory_id)) {
        known_names_add(&p->not_asked, timeline->memory_id, p->arena);
        return false;
    }
    p->memories_asked++;
    if (!profile_memory_make(loaded->profile, timeline, &memory->arena, &memory->overview, &error))
        return report_errors_add_in(&p->report->errors, &error, loaded->host->file->path, 0);
    memory->knows_peak = memory->overview.summary.tells.usage && memory->overview.summary.peak_row != MEMORY_EVENT_NONE;
    check_peak(p, memory);
    return true;
}

struct profile_evidence report_profile_evidence(const struct report_profile_memory *memory) {
    const struct profile_memory *overview = &memory->overview;
    return (struct profile_evidence){overview->profile,  overview->timeline, &overview->summary,
                                     &memory->breakdown, &memory->growth,    &memory->pressure};
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
    const struct profile_evidence evidence = report_profile_evidence(memory);
    if (!profile_findings_make(&evidence, arena, &memory->findings, error)) return false;
    memory->growth_text = growth_text(&memory->growth, arena);
    memory->pressure_text = pressure_text(&told, arena);
    memory->rows_shown = report_at_most(memory->breakdown.row_count, top);
    memory->ops_shown = report_at_most(memory->growth.op_count, top);
    memory->rows = breakdown_rows(profile, &memory->breakdown, memory->rows_shown, arena);
    if (memory->growth_text && memory->pressure_text && memory->rows) return true;
    return error_set(error, ERROR_TOO_BIG, "There is not enough memory for the report of this profile.");
}

bool report_profile_memory_look(struct report_profile *p, struct report_profile_memory *memory) {
    struct error error;
    return look(memory, p->report->options.top, &error) ||
           report_errors_add_in(&p->report->errors, &error, memory->of->host->file->path, 0);
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
