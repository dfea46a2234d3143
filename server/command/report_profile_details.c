#include "server/command/report_profile_details.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/profile/questions/clamped.h"
#include "analysis/profile/questions/largest_free.h"
#include "server/document/pressure_text.h"
#include "server/document/profile_advice.h"
#include "server/text/printable.h"
#include "analysis/base/size_text.h"

struct details {
    struct report_profile_memory *memory;
    const struct memory_timeline *timeline;
    struct arena *arena;
    struct report_page *page;
};

const char *report_profile_time(int64_t time_ps, struct arena *arena) {
    const char *text = arena_printf(arena, "%.3f ms", (double)time_ps / 1e9);
    return text ? text : "";
}

static const char *text_of(const struct details *d, struct bytes text) {
    return printable_text(text, d->arena);
}

static const char *count(const struct details *d, uint32_t number) {
    const char *text = arena_printf(d->arena, "%" PRIu32, number);
    return text ? text : "";
}

static const char *plural(uint32_t number) {
    return number == 1 ? "" : "s";
}

static void write_heading(const struct details *d, bool others) {
    const struct report_profile_host *host = d->memory->of->host;
    const char *heading = arena_printf(d->arena, "%s / %s, %s%s", text_of(d, bytes_of(host->session->found->name)),
                                       text_of(d, bytes_of(host->file->host)), text_of(d, d->timeline->memory_id),
                                       others ? ": the highest peak (--session for another)" : "");
    if (heading) report_page_heading(d->page, heading);
}

// --- Figures ---

static const char *free_text(const struct details *d, uint32_t row) {
    int64_t free = d->timeline->free_bytes[row];
    double fragmentation = d->timeline->fragmentation[row];
    int64_t largest = largest_free_bytes(free, fragmentation);
    if (!d->memory->overview.summary.tells.free) return "";
    if (largest == LARGEST_FREE_UNKNOWN || !isfinite(fragmentation))
        return arena_printf(d->arena, ", %s free", size_string(free, d->arena));
    return arena_printf(d->arena, ", %s free, of which %s in one piece (fragmentation %.1f%%)",
                        size_string(free, d->arena), size_string(largest, d->arena), 100 * fragmentation);
}

static const char *peak_text(const struct details *d) {
    const struct timeline_summary *summary = &d->memory->overview.summary;
    uint32_t row = summary->peak_row;
    if (!d->memory->knows_peak) return "The peak is not known: the allocator does not tell what is in use.";
    const char *free = free_text(d, row);
    int64_t peak = memory_timeline_used_bytes(d->timeline, row);
    return arena_printf(d->arena,
                        "Peak %s (%" PRId64 " bytes) at %s in step %" PRId64 ": %s heap, %s stack%s. Lifetime peak %s.",
                        size_string(peak, d->arena), peak, report_profile_time(d->timeline->time_ps[row], d->arena),
                        d->timeline->step[row], size_string(d->timeline->heap_bytes[row], d->arena),
                        size_string(d->timeline->stack_bytes[row], d->arena), free ? free : "",
                        size_string(summary->lifetime_peak_bytes, d->arena));
}

static const char *counts_text(const struct details *d) {
    const struct timeline_summary *summary = &d->memory->overview.summary;
    return arena_printf(d->arena,
                        "%" PRIu32 " allocation%s, %" PRIu32 " free%s; %s requested, %s allocated. Held at the end: "
                        "%s in %" PRIu32 " allocation%s not seen freed.",
                        summary->allocations, plural(summary->allocations), summary->frees, plural(summary->frees),
                        size_string(summary->requested_bytes, d->arena),
                        size_string(summary->allocated_bytes, d->arena),
                        size_string(summary->held_at_end_bytes, d->arena), summary->held_allocations,
                        plural(summary->held_allocations));
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
    const char *texts[] = {peak_text(d), counts_text(d), limit_text(d)};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i]) report_page_paragraph(d->page, texts[i]);
    }
}

// --- The peak ---

enum { TOTAL, SHARE, TIMES, OP, REGION, SHAPE, PEAK_COLUMN_COUNT };

static const struct table_column peak_columns[PEAK_COLUMN_COUNT] = {
    [TOTAL] = {.title = "Total", .place = TABLE_RIGHT},
    [SHARE] = {.title = "Share", .place = TABLE_RIGHT},
    [TIMES] = {.title = "Times", .place = TABLE_RIGHT},
    [OP] = {.title = "Op", .place = TABLE_LEFT, .can_shrink = true},
    [REGION] = {.title = "Region", .place = TABLE_LEFT, .can_shrink = true},
    [SHAPE] = {.title = "Shape", .place = TABLE_LEFT, .can_shrink = true},
};

static const char **add_row(const struct details *d, struct table *table, int64_t bytes, const char *op) {
    int64_t heap = d->memory->breakdown.heap_bytes;
    const char **cells = table_add_row(table);
    if (!cells) return NULL;
    cells[TOTAL] = size_string(bytes, d->arena);
    if (heap > 0) cells[SHARE] = arena_printf(d->arena, "%.1f%%", 100.0 * (double)bytes / (double)heap);
    cells[OP] = op;
    return cells;
}

static void add_site(const struct details *d, struct table *table, const struct breakdown_row *row) {
    const struct allocation_site *site = &row->site;
    const char *op = site->op.size ? text_of(d, site->op) : "(no op told)";
    const char **cells = add_row(d, table, row->held.total_bytes, op);
    if (!cells) return;
    cells[TIMES] = count(d, row->held.occurrences);
    cells[REGION] = text_of(d, site->region_type);
    cells[SHAPE] = arena_printf(d->arena, "%s%s", text_of(d, bytes_of(row->data_type)), text_of(d, site->shape));
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
            size_string(bytes, d->arena));
    return arena_printf(d->arena,
                        "The allocations seen hold %s more than the heap that the allocator told: frees were not "
                        "recorded.",
                        size_string(clamped_subtract(0, bytes), d->arena));
}

static void write_peak(const struct details *d) {
    const struct memory_breakdown *b = &d->memory->breakdown;
    struct table table = table_make(peak_columns, PEAK_COLUMN_COUNT, d->arena);
    const char *title = peak_title(d), *rest = unexplained_text(d);
    uint32_t left_out = b->row_count - d->memory->rows_shown;
    for (uint32_t i = 0; i < d->memory->rows_shown; i++) add_site(d, &table, &d->memory->rows[i]);
    if (left_out) {
        add_row(d, &table, report_profile_rows_left_out_bytes(d->memory),
                arena_printf(d->arena, "(%" PRIu32 " more row%s)", left_out, plural(left_out)));
    }
    if (b->unexplained_bytes)
        add_row(d, &table, b->unexplained_bytes,
                b->unexplained_bytes > 0 ? "(not seen allocated)" : "(frees not seen)");
    add_row(d, &table, b->heap_bytes, b->heap_is_told ? "heap" : "together");
    if (title) report_page_paragraph(d->page, title);
    report_page_table(d->page, &table);
    if (rest) report_page_paragraph(d->page, rest);
}

// --- Leaks ---

enum { SLOPE, GROWING, HELD, HELD_TIMES, GROWTH_OP, GROWTH_COLUMN_COUNT };

static const struct table_column growth_columns[GROWTH_COLUMN_COUNT] = {
    [SLOPE] = {.title = "Per step", .place = TABLE_RIGHT},
    [GROWING] = {.title = "Steps growing", .place = TABLE_RIGHT},
    [HELD] = {.title = "Held at end", .place = TABLE_RIGHT},
    [HELD_TIMES] = {.title = "Times", .place = TABLE_RIGHT},
    [GROWTH_OP] = {.title = "Op", .place = TABLE_LEFT, .can_shrink = true},
};

static void add_op(const struct details *d, struct table *table, const struct growth_op *op) {
    const char **cells = table_add_row(table);
    double slope = fmax(fmin(op->slope_bytes, 0x1p62), -0x1p62);
    if (!cells) return;
    cells[SLOPE] = size_string((int64_t)slope, d->arena);
    cells[GROWING] = arena_printf(d->arena, "%" PRIu32 " of %" PRIu32, op->steps_growing,
                                  d->memory->growth.all_step_count - 1);
    cells[HELD] = size_string(op->held_at_end_bytes, d->arena);
    cells[HELD_TIMES] = count(d, op->held_at_end_count);
    cells[GROWTH_OP] = op->op.size ? text_of(d, op->op) : "(no op told)";
}

static bool is_steady(const struct step_growth *growth, const struct growth_op *op) {
    uint64_t transitions = growth->all_step_count - 1;
    bool is_told = growth->all_step_count >= STEP_GROWTH_MIN_STEPS && op->slope_bytes >= 1;
    return is_told && (uint64_t)op->steps_growing * 100 >= transitions * STEP_GROWTH_STEADY_PERCENT;
}

static void write_growth(const struct details *d) {
    const struct step_growth *growth = &d->memory->growth;
    struct table table = table_make(growth_columns, GROWTH_COLUMN_COUNT, d->arena);
    report_page_paragraph(d->page, text_of(d, bytes_of(d->memory->growth_text)));
    for (uint32_t i = 0; i < growth->op_count && table.row_count < d->memory->ops_shown; i++) {
        if (is_steady(growth, &growth->ops[i])) add_op(d, &table, &growth->ops[i]);
    }
    if (table.row_count) report_page_table(d->page, &table);
}

// --- Pressure and notes ---

static void write_pressure(const struct details *d) {
    enum { MOMENTS_SHOWN = 10 };
    const struct memory_pressure *pressure = &d->memory->pressure;
    const struct pressure_told told = {d->memory->overview.profile, d->timeline, pressure};
    bool tells_first = pressure->state == PRESSURE_FAILED;  // the text does, so the list need not
    const char *items[MOMENTS_SHOWN];
    size_t shown = 0;
    report_page_paragraph(d->page, text_of(d, bytes_of(d->memory->pressure_text)));
    for (uint32_t i = 0; i < pressure->moment_count && shown < MOMENTS_SHOWN; i++) {
        bool is_told = tells_first && pressure->moments[i].kind == PRESSURE_STALL;
        if (is_told) tells_first = false;
        const char *text = is_told ? NULL : pressure_moment_text(&told, &pressure->moments[i], d->arena);
        if (text) items[shown++] = text_of(d, bytes_of(text));
    }
    report_page_list(d->page, items, shown);
}

static void write_notes(const struct details *d) {
    const struct profile_memory *overview = &d->memory->overview;
    const char *notes[PROFILE_MEMORY_NOTES_MAX + 1];
    size_t count = overview->note_count;
    for (size_t i = 0; i < count; i++) notes[i] = text_of(d, bytes_of(overview->notes[i]));
    const struct report_profile_loaded *of = d->memory->of;
    const char *left_out = profile_left_out(of->profile, of->host->file->host, d->arena);
    if (left_out) notes[count++] = text_of(d, bytes_of(left_out));
    report_page_list(d->page, notes, count);
}

void report_profile_details_write(struct report_profile_memory *memory, bool others, struct report_page *page) {
    struct details d = {memory, memory->overview.timeline, &memory->arena, page};
    write_heading(&d, others);
    write_figures(&d);
    write_peak(&d);
    write_growth(&d);
    write_pressure(&d);
    write_notes(&d);
}
