#include "server/command/report_formats.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/base/clamped.h"
#include "analysis/profile/questions/largest_free.h"
#include "server/document/findings_document.h"
#include "server/document/pressure_document.h"
#include "server/document/profile_advice.h"
#include "server/text/printable.h"
#include "analysis/base/size_text.h"

struct details {
    struct report_profile_memory *memory;
    const struct memory_timeline *timeline;
    struct arena *arena;
    struct page *page;
};

const char *report_profile_time(int64_t time_ps, struct arena *arena) {
    const char *text = arena_printf(arena, "%.3f ms", (double)time_ps / 1e9);
    return text ? text : "";
}

static const char *size_of(const struct details *d, int64_t bytes) {
    return size_string(bytes, d->arena);
}

static const char *plural(uint32_t number) {
    return number == 1 ? "" : "s";
}

static const char *op_text(const struct details *d, struct bytes op) {
    return op.size ? printable_text(op, d->arena) : "(no op told)";
}

static void write_heading(const struct details *d, bool others) {
    const struct report_profile_host *host = d->memory->of->host;
    page_heading(d->page, arena_printf(d->arena, "%s / %s, %s%s", host->session->found->name, host->file->host,
                                       printable_text(d->timeline->memory_id, d->arena),
                                       others ? ": the highest peak (--session for another)" : ""));
}

// --- Figures ---

static const char *free_text(const struct details *d, uint32_t row) {
    int64_t free = d->timeline->free_bytes[row];
    double fragmentation = d->timeline->fragmentation[row];
    int64_t largest = largest_free_bytes(free, fragmentation);
    if (!d->memory->overview.summary.tells.free) return "";
    if (largest == LARGEST_FREE_UNKNOWN || !isfinite(fragmentation))
        return arena_printf(d->arena, ", %s free", size_of(d, free));
    return arena_printf(d->arena, ", %s free, of which %s in one piece (fragmentation %.1f%%)", size_of(d, free),
                        size_of(d, largest), 100 * fragmentation);
}

static const char *peak_text(const struct details *d) {
    const struct timeline_summary *summary = &d->memory->overview.summary;
    uint32_t row = summary->peak_row;
    if (!d->memory->knows_peak) return "The peak is not known: the allocator does not tell what is in use.";
    const char *free = free_text(d, row);
    int64_t peak = memory_timeline_used_bytes(d->timeline, row);
    return arena_printf(
        d->arena, "Peak %s (%" PRId64 " bytes) at %s in step %" PRId64 ": %s heap, %s stack%s. Lifetime peak %s.",
        size_of(d, peak), peak, report_profile_time(d->timeline->time_ps[row], d->arena), d->timeline->step[row],
        size_of(d, d->timeline->heap_bytes[row]), size_of(d, d->timeline->stack_bytes[row]), free ? free : "",
        size_of(d, summary->lifetime_peak_bytes));
}

static const char *counts_text(const struct details *d) {
    const struct timeline_summary *summary = &d->memory->overview.summary;
    return arena_printf(d->arena,
                        "%" PRIu32 " allocation%s, %" PRIu32 " free%s; %s requested, %s allocated. Held at the end: "
                        "%s in %" PRIu32 " allocation%s not seen freed.",
                        summary->allocations, plural(summary->allocations), summary->frees, plural(summary->frees),
                        size_of(d, summary->requested_bytes), size_of(d, summary->allocated_bytes),
                        size_of(d, summary->held_at_end_bytes), summary->held_allocations,
                        plural(summary->held_allocations));
}

static void write_findings(const struct details *d) {
    const struct profile_evidence evidence = report_profile_evidence(d->memory);
    const struct profile_findings *findings = &d->memory->findings;
    const struct findings_told told = {&evidence, findings};
    const char *items[PROFILE_FINDINGS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < findings->count; i++) {
        if (findings->items[i].kind == FINDING_PEAK) continue;  // the next paragraph does
        const char *text = finding_text(&told, &findings->items[i], d->arena);
        if (text) items[count++] = text;
    }
    page_list(d->page, items, count);
}

static const char *limit_text(const struct details *d) {
    switch (d->memory->limit) {
        case REPORT_PROFILE_NOT_CHECKED:
            return NULL;
        case REPORT_PROFILE_WITHIN:
            return "The peak is within --fail-over.";
        case REPORT_PROFILE_OVER:
            return "The peak is above --fail-over.";
    }
    return NULL;
}

static void write_figures(const struct details *d) {
    page_paragraph(d->page, peak_text(d));
    page_paragraph(d->page, counts_text(d));
    page_paragraph(d->page, limit_text(d));
}

// --- The peak ---

static const struct table_column peak_columns[] = {
    {"Total", TABLE_RIGHT, false},  {"Share", TABLE_RIGHT, false},      {"Times", TABLE_RIGHT, false},
    {"Op", TABLE_SHRINKING, false}, {"Region", TABLE_SHRINKING, false}, {"Shape", TABLE_SHRINKING, false},
};

static const char *share_text(const struct details *d, int64_t bytes) {
    int64_t heap = d->memory->breakdown.heap_bytes;
    return heap > 0 ? arena_printf(d->arena, "%.1f%%", 100.0 * (double)bytes / (double)heap) : NULL;
}

static void add_sum(const struct details *d, struct table *table, int64_t bytes, const char *what) {
    TABLE_ADD(table, size_of(d, bytes), share_text(d, bytes), NULL, what);
}

static void add_site(const struct details *d, struct table *table, const struct breakdown_row *row) {
    const struct allocation_site *site = &row->site;
    TABLE_ADD(table, size_of(d, row->held.total_bytes), share_text(d, row->held.total_bytes),
              arena_printf(d->arena, "%" PRIu32, row->held.occurrences), op_text(d, site->op),
              printable_text(site->region_type, d->arena),
              arena_printf(d->arena, "%s%s", row->data_type, printable_text(site->shape, d->arena)));
}

static const char *peak_title(const struct details *d) {
    const struct memory_breakdown *b = &d->memory->breakdown;
    const char *when = report_profile_time(d->timeline->time_ps[b->row], d->arena);
    if (!b->heap_is_told || !d->memory->knows_peak)
        return arena_printf(d->arena, "What the allocations seen held when they held the most, at %s:", when);
    return arena_printf(d->arena, "What filled the heap at the peak%s:",
                        d->memory->rows_shown < b->row_count ? " (--top N for more)" : "");
}

static const char *unexplained_text(const struct details *d) {
    int64_t bytes = d->memory->breakdown.unexplained_bytes;
    if (bytes == 0) return NULL;
    if (bytes > 0)
        return arena_printf(
            d->arena,
            "%s were not seen allocated: in use before the profile began, or not recorded. XProf counts "
            "it as \"unused preallocated device memory\".",
            size_of(d, bytes));
    return arena_printf(d->arena,
                        "The allocations seen hold %s more than the heap that the allocator told: frees were not "
                        "recorded.",
                        size_of(d, clamped_subtract(0, bytes)));
}

static void write_peak(const struct details *d) {
    const struct memory_breakdown *b = &d->memory->breakdown;
    struct table table = table_make(peak_columns, sizeof peak_columns / sizeof *peak_columns, d->arena);
    uint32_t left_out = b->row_count - d->memory->rows_shown;
    for (uint32_t i = 0; i < d->memory->rows_shown; i++) add_site(d, &table, &d->memory->rows[i]);
    if (left_out) {
        add_sum(d, &table, report_profile_rows_left_out_bytes(d->memory),
                arena_printf(d->arena, "(%" PRIu32 " more row%s)", left_out, plural(left_out)));
    }
    if (b->unexplained_bytes)
        add_sum(d, &table, b->unexplained_bytes,
                b->unexplained_bytes > 0 ? "(not seen allocated)" : "(frees not seen)");
    add_sum(d, &table, b->heap_bytes, b->heap_is_told ? "heap" : "together");
    page_paragraph(d->page, peak_title(d));
    page_table(d->page, &table);
    page_paragraph(d->page, unexplained_text(d));
}

// --- Leaks ---

static const struct table_column growth_columns[] = {
    {"Per step", TABLE_RIGHT, false}, {"Steps growing", TABLE_RIGHT, false}, {"Held at end", TABLE_RIGHT, false},
    {"Times", TABLE_RIGHT, false},    {"Op", TABLE_SHRINKING, false},
};

static void add_op(const struct details *d, struct table *table, const struct growth_op *op) {
    double slope = fmax(fmin(op->slope_bytes, 0x1p62), -0x1p62);
    TABLE_ADD(
        table, size_of(d, (int64_t)slope),
        arena_printf(d->arena, "%" PRIu32 " of %" PRIu32, op->steps_growing, d->memory->growth.all_step_count - 1),
        size_of(d, op->held_at_end_bytes), arena_printf(d->arena, "%" PRIu32, op->held_at_end_count),
        op_text(d, op->op));
}

static bool is_steady(const struct step_growth *growth, const struct growth_op *op) {
    uint64_t transitions = growth->all_step_count - 1;
    bool is_told = growth->all_step_count >= STEP_GROWTH_MIN_STEPS && op->slope_bytes >= 1;
    return is_told && (uint64_t)op->steps_growing * 100 >= transitions * STEP_GROWTH_STEADY_PERCENT;
}

static void write_growth(const struct details *d) {
    const struct step_growth *growth = &d->memory->growth;
    struct table table = table_make(growth_columns, sizeof growth_columns / sizeof *growth_columns, d->arena);
    for (uint32_t i = 0; i < growth->op_count && table.row_count < d->memory->ops_shown; i++) {
        if (is_steady(growth, &growth->ops[i])) add_op(d, &table, &growth->ops[i]);
    }
    page_paragraph(d->page, d->memory->growth_text);
    page_table(d->page, &table);
}

// --- Pressure and notes ---

static void write_pressure(const struct details *d) {
    enum { MOMENTS_SHOWN = 10 };
    const struct memory_pressure *pressure = &d->memory->pressure;
    const struct pressure_told told = {d->memory->overview.profile, d->timeline, pressure};
    bool tells_first = pressure->state == PRESSURE_FAILED;  // the text does, so the list need not
    const char *items[MOMENTS_SHOWN];
    size_t shown = 0;
    page_paragraph(d->page, d->memory->pressure_text);
    for (uint32_t i = 0; i < pressure->moment_count && shown < MOMENTS_SHOWN; i++) {
        bool is_told = tells_first && pressure->moments[i].kind == PRESSURE_STALL;
        if (is_told)
            tells_first = false;
        else
            items[shown++] = pressure_moment_text(&told, &pressure->moments[i], d->arena);
    }
    page_list(d->page, items, shown);
}

static void write_notes(const struct details *d) {
    const struct profile_memory *overview = &d->memory->overview;
    const struct report_profile_loaded *of = d->memory->of;
    const char *notes[PROFILE_MEMORY_NOTES_MAX + 1];
    size_t count = overview->note_count;
    for (size_t i = 0; i < count; i++) notes[i] = overview->notes[i];
    notes[count] = profile_left_out(of->profile, of->host->file->host, d->arena);
    page_list(d->page, notes, notes[count] ? count + 1 : count);
}

void report_profile_details_write(struct report_profile_memory *memory, bool others, struct page *page) {
    struct details d = {memory, memory->overview.timeline, &memory->arena, page};
    write_heading(&d, others);
    write_findings(&d);
    write_figures(&d);
    write_peak(&d);
    write_growth(&d);
    write_pressure(&d);
    write_notes(&d);
}
