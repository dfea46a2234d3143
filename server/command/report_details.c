#include "server/command/report_overview.h"

#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "analysis/base/text_writer.h"
#include "server/text/printable.h"

struct details {
    struct report_module *module;
    struct report_space space;
    struct arena *arena;
    struct page *page;
};

static const char *size_of(const struct details *d, int64_t bytes) {
    return size_string(bytes, d->arena);
}

static const char *words_of(const struct details *d, struct bytes text) {
    return printable_text(text, d->arena);
}

// --- What it is about ---

static void write_heading(const struct details *d, int64_t space, bool others) {
    char name[MEMORY_SPACE_NAME_BYTES];
    const struct report_program *program = d->module->program;
    page_heading(d->page, arena_printf(d->arena, "%s%s / %s, %s", others ? "The biggest: " : "", program->session->name,
                                       program->name, memory_space_name(space, name)));
}

// The other memory spaces of the module, so that none is overlooked.
static void write_other_spaces(struct report *report, const struct details *d, int64_t space) {
    struct memory_summary_list list = {0};
    char name[MEMORY_SPACE_NAME_BYTES];
    struct text_writer text = {.arena = d->arena};
    report_module_summaries(report, d->module, &list);
    for (size_t i = 0; i < list.count; i++) {
        const struct memory_summary *other = &list.summaries[i];
        if (other->space == space) continue;
        text_put(&text, text.size ? ", " : "Other memory spaces (--memory-space): ");
        text_put(&text, memory_space_name(other->space, name));
        text_put(&text, " ");
        text_put(&text, size_of(d, other->total_bytes ? other->total_bytes : other->thread_local_bytes));
        if (!other->total_bytes) text_put(&text, " thread-local");
    }
    if (text.size == 0) return;
    text_put(&text, ".");
    page_paragraph(d->page, text_writer_finish(&text));
}

static void write_peak(const struct details *d) {
    const struct memory_view *view = d->space.view;
    const struct heap_replay *replay = &view->replay;
    const char *padding = "", *place = "";
    if (view->padding_bytes > 0)
        padding = arena_printf(d->arena, ", %s of it padding", size_of(d, view->padding_bytes));
    if (view->has_simulation)
        place = arena_printf(d->arena, " at step %" PRIu32 " of %" PRIu32 " (%s)", replay->peak_position,
                             replay->step_count, words_of(d, replay->instruction_names[replay->peak_position]));
    if (!place || !padding) return;
    page_paragraph(d->page, arena_printf(d->arena, "Peak %s%s%s.", size_of(d, view->peak_bytes), place, padding));
}

// --- Categories ---

static void add_category(const struct details *d, struct table *table, const char *name, int64_t bytes,
                         bool has_share) {
    int64_t total = d->space.view->totals.total_bytes;
    bool is_shared = has_share && total > 0;
    TABLE_ADD(table, name, size_of(d, bytes),
              is_shared ? arena_printf(d->arena, "%.1f%%", 100.0 * (double)bytes / (double)total) : NULL);
}

static void write_categories(const struct details *d) {
    static const struct table_column columns[] = {
        {"Category", TABLE_LEFT, false}, {"Size", TABLE_RIGHT, false}, {"Share", TABLE_RIGHT, false}};
    const struct memory_view *view = d->space.view;
    const int64_t *bytes = view->totals.bytes;
    struct table table = table_make(columns, sizeof columns / sizeof *columns, d->arena);
    for (int i = 0; i < ALLOCATION_CATEGORY_COUNT; i++) {
        if (bytes[i] && i != ALLOCATION_THREAD_LOCAL)
            add_category(d, &table, allocation_category_name((enum allocation_category)i), bytes[i], true);
    }
    add_category(d, &table, "total", view->totals.total_bytes, true);
    if (view->has_simulation && view->fragmentation_bytes > 0)
        add_category(d, &table, "fragmentation (in temporary)", view->fragmentation_bytes, true);
    if (bytes[ALLOCATION_THREAD_LOCAL])
        add_category(d, &table, "thread-local (not in total)", bytes[ALLOCATION_THREAD_LOCAL], false);
    page_table(d->page, &table);
}

// The compiler's own count, which a dump has.
static void write_compiler_report(const struct details *d) {
    const struct dump_facts *dump = &d->module->dump;
    if (!dump->has_report) return;
    struct usage_comparison comparison = usage_report_compare(&dump->report, &d->space.view->totals);
    int64_t difference = comparison.difference_bytes;
    const char *size = size_of(d, comparison.reported_bytes);
    const char *other = size_of(d, difference < 0 ? -difference : difference);
    page_paragraph(d->page, comparison.agrees
                                ? arena_printf(d->arena, "Compiler's own count: %s (agrees).", size)
                                : arena_printf(d->arena, "Compiler's own count: %s (differs: %s %s here).", size, other,
                                               difference < 0 ? "less" : "more"));
}

// --- Buffers ---

static const struct table_column buffer_columns[] = {
    {"Size", TABLE_RIGHT, false},       {"Padding", TABLE_RIGHT, false},   {"Category", TABLE_LEFT, false},
    {"Buffer", TABLE_SHRINKING, false}, {"Shape", TABLE_SHRINKING, false}, {"Operation", TABLE_BELOW, false},
    {"Source", TABLE_BELOW, false},
};

static const char *padding_text(const struct details *d, const struct memory_buffer *row) {
    if (row->unpadded_bytes < 0) return "?";
    return row->size_bytes == row->unpadded_bytes ? "-" : size_of(d, row->size_bytes - row->unpadded_bytes);
}

// On a terminal a shape is its dimensions; the layouts in braces would crowd them out.
static const char *shape_words(const struct details *d, struct bytes shape) {
    if (d->page->is_markdown) return words_of(d, shape);
    uint8_t *bare = arena_push_raw(d->arena, shape.size, 1);
    size_t size = 0, depth = 0;
    for (size_t i = 0; bare && i < shape.size; i++) {
        if (shape.data[i] == '{') depth++;
        if (depth == 0) bare[size++] = shape.data[i];
        if (shape.data[i] == '}' && depth > 0) depth--;
    }
    return words_of(d, (struct bytes){bare, size});
}

static const char *buffers_title(const struct details *d) {
    uint32_t shown = d->space.peak.largest_count, all = d->space.peak.total.buffers;
    if (shown == 0) return arena_printf(d->arena, "Buffers at the peak: %" PRIu32 "; --top N lists the largest.", all);
    if (all == 1) return "The only buffer at the peak:";
    if (shown == all) return arena_printf(d->arena, "All %" PRIu32 " buffers at the peak:", all);
    return arena_printf(d->arena,
                        "The largest %" PRIu32 " of %" PRIu32 " buffers at the peak (--top N for more):", shown, all);
}

static void write_buffers(struct details *d) {
    struct table table = table_make(buffer_columns, sizeof buffer_columns / sizeof *buffer_columns, d->arena);
    page_paragraph(d->page, buffers_title(d));
    for (uint32_t i = 0; i < d->space.peak.largest_count; i++) {
        struct report_buffer buffer = report_buffer_read(&d->space, i);
        TABLE_ADD(&table, size_of(d, buffer.row.size_bytes), padding_text(d, &buffer.row), buffer.category,
                  words_of(d, buffer.words.name), shape_words(d, buffer.words.shape), words_of(d, buffer.words.op_name),
                  words_of(d, buffer.source));
    }
    page_table(d->page, &table);
}

// --- The whole ---

static void write_space(struct report *report, struct details *d, int64_t space, bool others) {
    write_heading(d, space, others);
    write_peak(d);
    write_categories(d);
    write_compiler_report(d);
    if (report->options.space == REPORT_ALL) write_other_spaces(report, d, space);
    if (d->space.view->at_peak_count) write_buffers(d);
    page_list(d->page, d->space.notes.texts, d->space.notes.count);
}

void report_details_write(struct report *report, const struct report_overview_row *row, bool others,
                          struct page *page) {
    struct report_module module;
    struct details details = {.module = &module, .arena = &module.arena, .page = page};
    if (report_module_load(report, row->program, &module) &&
        report_space_build(report, &module, row->space, &details.space))
        write_space(report, &details, row->space, others);
    report_module_free(&module);
}
