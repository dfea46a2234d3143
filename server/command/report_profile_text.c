#include "server/command/report_formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analysis/base/clamped.h"
#include "analysis/base/size_text.h"
#include "server/document/profile_advice.h"
#include "server/text/printable.h"

enum { SESSIONS_COMPARED = 3 };  // in words, of those that have hosts to compare

// Why there are no events, and in whose profiles: "run / vm-0, run / vm-1: The plane ..."
struct reason {
    const char *text;
    struct text_writer names;
};

// Where a host's part begins among the rows of the table and the bytes of the details.
struct host_part {
    size_t row, byte;
};

// The table is written when all files were read, the details are gathered meanwhile: no file is read twice. Which
// hosts of a large pod they are told of is known by then.
struct gathering {
    struct report_profile *p;
    struct table table;
    struct output details;
    struct host_part *parts;  // of each host, and the end
    int64_t highest_bytes;    // among the details, of several sessions
    bool has_highest;
    struct reason *reasons;  // of hosts without events
    size_t reason_count;
    const char *advice;  // "" when there is none to give
};

static bool has_several_sessions(const struct report_profile *p) {
    return p->session_count > 1;
}

// --- Gathering ---

static void add_memory(struct gathering *g, const struct report_profile_memory *memory) {
    struct arena *arena = g->p->arena;
    const struct memory_timeline *timeline = memory->overview.timeline;
    const struct timeline_summary *summary = &memory->overview.summary;
    const struct report_profile_host *host = memory->of->host;
    const char *capacity = NULL, *peak = "not told", *when = NULL, *step = NULL;
    if (memory->knows_peak) {
        uint32_t row = summary->peak_row;
        int64_t used = memory_timeline_used_bytes(timeline, row);
        peak = size_string(used, arena);
        when = report_profile_time(timeline->time_ps[row], arena);
        step = arena_printf(arena, "%" PRId64, timeline->step[row]);
        if (summary->tells.free) capacity = size_string(clamped_add(used, timeline->free_bytes[row]), arena);
    }
    TABLE_ADD(&g->table, host->session->found->name, host->file->host, printable_text(timeline->memory_id, arena),
              capacity, peak, when, step, size_string(summary->held_at_end_bytes, arena));
}

// Of several sessions the details are those of the highest peak so far.
static bool wants_details(struct gathering *g, const struct report_profile_memory *memory) {
    if (!has_several_sessions(g->p)) return true;
    if (!memory->knows_peak) return false;
    int64_t peak = memory_timeline_used_bytes(memory->overview.timeline, memory->overview.summary.peak_row);
    if (g->has_highest && peak <= g->highest_bytes) return false;
    g->has_highest = true;
    g->highest_bytes = peak;
    return true;
}

static void gather_details(struct gathering *g, struct report_profile_memory *memory) {
    bool several = has_several_sessions(g->p);
    struct page page = report_page_on(g->p->report, &g->details, &memory->arena);
    if (!wants_details(g, memory) || !report_profile_memory_look(g->p, memory)) return;
    if (several) g->details.size = 0;
    page.has_begun = true;  // after the table
    report_profile_details_write(memory, several, &page);
}

static void add_reason(struct gathering *g, const char *text, const char *name) {
    size_t i = 0;
    while (i < g->reason_count && strcmp(g->reasons[i].text, text) != 0) i++;
    if (i == g->reason_count) g->reasons[g->reason_count++] = (struct reason){text, {.arena = g->p->arena}};
    if (g->reasons[i].names.size) text_put(&g->reasons[i].names, ", ");
    text_put(&g->reasons[i].names, name);
}

static void gather_reason(struct gathering *g, const struct report_profile_loaded *loaded) {
    struct arena *arena = g->p->arena;
    if (loaded->profile->timeline_count || loaded->fault.code != ERROR_NONE) return;
    const char *name = arena_printf(arena, "%s / %s", loaded->host->session->found->name, loaded->host->file->host);
    const char *reason = arena_string(arena, bytes_of(loaded->reason));
    if (name && reason) add_reason(g, reason, name);
    g->advice = has_several_sessions(g->p) ? profile_advice(false) : loaded->advice;
}

static void gather_host(struct gathering *g, const struct report_profile_host *host) {
    struct report_profile_loaded loaded;
    report_profile_load(g->p, host, &loaded);
    g->parts[host - g->p->hosts] = (struct host_part){g->table.row_count, g->details.size};
    gather_reason(g, &loaded);
    for (size_t i = 0; i < loaded.profile->timeline_count; i++) {
        struct report_profile_memory memory;
        if (report_profile_memory_make(g->p, &loaded, i, &memory)) {
            add_memory(g, &memory);
            gather_details(g, &memory);
        }
        report_profile_memory_free(&memory);
    }
    report_profile_take_peaks(&loaded);
    report_profile_unload(&loaded);
}

static void gather_sessions_without_files(struct gathering *g) {
    for (size_t i = 0; i < g->p->session_count; i++) {
        const char *note = report_profile_session_note(&g->p->sessions[i]);
        if (note && !g->p->report->options.host) add_reason(g, note, g->p->sessions[i].found->name);
    }
}

// --- Writing ---

static bool has_several_hosts(const struct report_profile *p) {
    for (size_t i = 1; i < p->host_count; i++) {
        if (strcmp(p->hosts[i].file->host, p->hosts[0].file->host) != 0) return true;
    }
    return false;
}

static void write_reasons(struct gathering *g, struct page *page) {
    const char **items = arena_new(page->arena, const char *, g->reason_count);
    if (g->reason_count == 0 || !items) return;
    for (size_t i = 0; i < g->reason_count; i++) {
        const char *names = text_writer_finish(&g->reasons[i].names);
        if (names) items[i] = arena_printf(page->arena, "%s: %s", names, g->reasons[i].text);
    }
    page_paragraph(page, "No memory events:");
    page_list(page, items, g->reason_count);
    if (*g->advice) page_paragraph(page, g->advice);
}

// Of several sessions the newest that have something to compare.
static void write_across(const struct gathering *g, struct page *page) {
    const char *how = has_several_sessions(g->p) ? NULL : "--host=NAME tells another.";
    size_t compared = 0;
    for (size_t i = 0; i < g->p->session_count; i++) {
        const struct report_profile_session *session = &g->p->sessions[i];
        if (session->across.has_any && ++compared <= SESSIONS_COMPARED)
            report_across_text(&session->across, session->found->name, "host", how, page);
    }
    if (compared > SESSIONS_COMPARED)
        page_paragraph(page, arena_printf(page->arena, "%zu more sessions have hosts to compare: --session=NAME.",
                                          compared - SESSIONS_COMPARED));
}

// Of several sessions every memory is listed, and one told whole.
static bool is_told(const struct report_profile *p, size_t host) {
    const struct report_profile_session *session = p->hosts[host].session;
    return has_several_sessions(p) || report_across_is_whole(&session->across, host - session->first_host);
}

static void write_table(const struct gathering *g, struct page *page) {
    struct table table = table_make(g->table.columns, g->table.column_count, page->arena);
    for (size_t i = 0; g->parts && i < g->p->host_count; i++) {
        size_t end = is_told(g->p, i) ? g->parts[i + 1].row : 0;
        for (size_t row = g->parts[i].row; row < end; row++)
            table_add(&table, &g->table.cells[row * table.column_count], table.column_count);
    }
    page_table(page, &table);
}

static void write_details(const struct gathering *g, const struct page *page) {
    if (has_several_sessions(g->p)) {  // of one memory alone
        output_append(page->output, output_bytes(&g->details));
        return;
    }
    for (size_t i = 0; g->parts && g->details.data && i < g->p->host_count; i++) {
        struct bytes part = {(const uint8_t *)g->details.data + g->parts[i].byte,
                             g->parts[i + 1].byte - g->parts[i].byte};
        if (is_told(g->p, i)) output_append(page->output, part);
    }
}

static void write_all(struct gathering *g, struct page *page) {
    bool several = has_several_sessions(g->p);
    if (!several) write_across(g, page);
    write_table(g, page);
    if (several) write_across(g, page);
    if (g->table.row_count && has_several_hosts(g->p)) page_paragraph(page, profile_clocks_note);
    write_reasons(g, page);
    write_details(g, page);
}

static bool gather_all(struct gathering *g) {
    struct report_profile *p = g->p;
    g->reasons = arena_new(p->arena, struct reason, p->host_count + p->session_count);
    g->parts = arena_new(p->arena, struct host_part, p->host_count + 1);
    if (!g->reasons || !g->parts) return false;
    for (size_t i = 0; i < p->host_count; i++) gather_host(g, &p->hosts[i]);
    for (size_t i = 0; i < p->session_count; i++) report_across_compare(&p->sessions[i].across);
    g->parts[p->host_count] = (struct host_part){g->table.row_count, g->details.size};
    gather_sessions_without_files(g);
    return !g->table.has_failed && !g->details.failed;
}

void report_profile_text_write(struct report_profile *p) {
    const struct table_column columns[] = {
        {"Session", TABLE_SHRINKING, !has_several_sessions(p)},
        {"Host", TABLE_SHRINKING, !has_several_hosts(p)},
        {"Memory", TABLE_SHRINKING, false},
        {"Capacity", TABLE_RIGHT, false},
        {"Peak", TABLE_RIGHT, false},
        {"At", TABLE_RIGHT, false},
        {"Step", TABLE_RIGHT, false},
        {"Held at end", TABLE_RIGHT, false},
    };
    struct gathering g = {
        .p = p, .table = table_make(columns, sizeof columns / sizeof *columns, p->arena), .advice = ""};
    struct page page = report_page_on(p->report, &p->report->sink.output, p->arena);
    output_init(&g.details, OUTPUT_LIMIT_BYTES);
    if (!gather_all(&g))
        report_errors_say(&p->report->errors, ERROR_TOO_BIG, NULL,
                          "There is not enough memory for the whole report; some of it is missing.");
    write_all(&g, &page);
    output_free(&g.details);
    report_profile_tell_missing(p);
}
