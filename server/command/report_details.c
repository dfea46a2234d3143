#include "server/command/report_details.h"

#include <inttypes.h>

#include "analysis/base/text_writer.h"
#include "server/text/printable.h"
#include "analysis/base/size_text.h"

struct details {
    struct report_module *module;
    struct report_space space;
    struct arena *arena;
    struct report_page *page;
};

static const char *keep_text(const struct details *d, struct bytes text) {
    return printable_text(text, d->arena);
}

// --- What it is about ---

static void write_heading(const struct details *d, int64_t space, bool others) {
    char name[MEMORY_SPACE_NAME_BYTES];
    const struct report_program *program = d->module->program;
    const char *text = arena_printf(d->arena, "%s%s / %s, %s", others ? "The biggest: " : "", program->session->name,
                                    program->name, memory_space_name(space, name));
    if (text) report_page_heading(d->page, text);
}

// The other memory spaces of the module, so that none is overlooked.
static void write_other_spaces(struct report *report, const struct details *d, int64_t space) {
    struct memory_summary_list list = {0};
    char name[MEMORY_SPACE_NAME_BYTES], size[SIZE_TEXT_BYTES];
    struct text_writer text = {.arena = d->arena};
    report_module_summaries(report, d->module, &list);
    for (size_t i = 0; i < list.count; i++) {
        const struct memory_summary *other = &list.summaries[i];
        if (other->space == space) continue;
        text_put(&text, text.size ? ", " : "Other memory spaces (--memory-space): ");
        text_put(&text, memory_space_name(other->space, name));
        text_put(&text, " ");
        text_put(&text, size_text(other->total_bytes ? other->total_bytes : other->thread_local_bytes, size));
        if (!other->total_bytes) text_put(&text, " thread-local");
    }
    if (text.size == 0) return;
    text_put(&text, ".");
    const char *written = text_writer_finish(&text);
    if (written) report_page_paragraph(d->page, written);
}

static void write_peak(const struct details *d) {
    const struct memory_view *view = d->space.view;
    const struct heap_replay *replay = &view->replay;
    const char *padding = "", *place = "", *peak = size_string(view->peak_bytes, d->arena);
    if (view->padding_bytes > 0)
        padding = arena_printf(d->arena, ", %s of it padding", size_string(view->padding_bytes, d->arena));
    if (view->has_simulation)
        place = arena_printf(d->arena, " at step %" PRIu32 " of %" PRIu32 " (%s)", replay->peak_position,
                             replay->step_count, keep_text(d, replay->instruction_names[replay->peak_position]));
    const char *text = peak && place && padding ? arena_printf(d->arena, "Peak %s%s%s.", peak, place, padding) : NULL;
    if (text) report_page_paragraph(d->page, text);
}

// --- Categories ---

enum { CATEGORY, CATEGORY_SIZE, CATEGORY_SHARE, CATEGORY_COLUMN_COUNT };

static void add_category(const struct details *d, struct table *table, const char *name, int64_t bytes,
                         bool has_share) {
    int64_t total = d->space.view->totals.total_bytes;
    const char **cells = table_add_row(table);
    if (!cells) return;
    cells[CATEGORY] = name;
    cells[CATEGORY_SIZE] = size_string(bytes, d->arena);
    if (has_share && total > 0)
        cells[CATEGORY_SHARE] = arena_printf(d->arena, "%.1f%%", 100.0 * (double)bytes / (double)total);
}

static void write_categories(const struct details *d) {
    static const struct table_column columns[CATEGORY_COLUMN_COUNT] = {
        [CATEGORY] = {.title = "Category", .place = TABLE_LEFT},
        [CATEGORY_SIZE] = {.title = "Size", .place = TABLE_RIGHT},
        [CATEGORY_SHARE] = {.title = "Share", .place = TABLE_RIGHT},
    };
    const struct memory_view *view = d->space.view;
    const int64_t *bytes = view->totals.bytes;
    struct table table = table_make(columns, CATEGORY_COLUMN_COUNT, d->arena);
    for (int i = 0; i < ALLOCATION_CATEGORY_COUNT; i++) {
        if (bytes[i] && i != ALLOCATION_THREAD_LOCAL)
            add_category(d, &table, allocation_category_name((enum allocation_category)i), bytes[i], true);
    }
    add_category(d, &table, "total", view->totals.total_bytes, true);
    if (view->has_simulation && view->fragmentation_bytes > 0)
        add_category(d, &table, "fragmentation (in temporary)", view->fragmentation_bytes, true);
    if (bytes[ALLOCATION_THREAD_LOCAL])
        add_category(d, &table, "thread-local (not in total)", bytes[ALLOCATION_THREAD_LOCAL], false);
    report_page_table(d->page, &table);
}

// The compiler's own count, which a dump has.
static void write_compiler_report(const struct details *d) {
    const struct dump_facts *dump = &d->module->dump;
    if (!dump->has_report) return;
    struct usage_comparison comparison = usage_report_compare(&dump->report, &d->space.view->totals);
    int64_t difference = comparison.difference_bytes;
    const char *size = size_string(comparison.reported_bytes, d->arena);
    const char *other = size_string(difference < 0 ? -difference : difference, d->arena);
    const char *text = comparison.agrees ? arena_printf(d->arena, "Compiler's own count: %s (agrees).", size)
                                         : arena_printf(d->arena, "Compiler's own count: %s (differs: %s %s here).",
                                                        size, other, difference < 0 ? "less" : "more");
    if (text) report_page_paragraph(d->page, text);
}

// --- Buffers ---

enum { SIZE, PADDING, BUFFER_CATEGORY, NAME, SHAPE, OPERATION, SOURCE, BUFFER_COLUMN_COUNT };

static const struct table_column buffer_columns[BUFFER_COLUMN_COUNT] = {
    [SIZE] = {.title = "Size", .place = TABLE_RIGHT},
    [PADDING] = {.title = "Padding", .place = TABLE_RIGHT},
    [BUFFER_CATEGORY] = {.title = "Category", .place = TABLE_LEFT},
    [NAME] = {.title = "Buffer", .place = TABLE_LEFT, .can_shrink = true},
    [SHAPE] = {.title = "Shape", .place = TABLE_LEFT, .can_shrink = true},
    [OPERATION] = {.title = "Operation", .place = TABLE_BELOW, .can_shrink = true},
    [SOURCE] = {.title = "Source", .place = TABLE_BELOW, .can_shrink = true},
};

static const char *padding_text(const struct details *d, const struct memory_buffer *row) {
    if (row->unpadded_bytes < 0) return "?";
    return row->size_bytes == row->unpadded_bytes ? "-" : size_string(row->size_bytes - row->unpadded_bytes, d->arena);
}

// On a terminal a shape is its dimensions; the layouts in braces would crowd them out.
static const char *shape_words(const struct details *d, struct bytes shape) {
    if (d->page->is_markdown) return keep_text(d, shape);
    uint8_t *bare = arena_push_raw(d->arena, shape.size, 1);
    size_t size = 0, depth = 0;
    for (size_t i = 0; bare && i < shape.size; i++) {
        if (shape.data[i] == '{') depth++;
        if (depth == 0) bare[size++] = shape.data[i];
        if (shape.data[i] == '}' && depth > 0) depth--;
    }
    return keep_text(d, (struct bytes){bare, size});
}

static void add_buffer(struct details *d, struct table *table, size_t i) {
    struct report_buffer buffer = report_buffer_read(&d->space, i);
    const char **cells = table_add_row(table);
    if (!cells) return;
    cells[SIZE] = size_string(buffer.row.size_bytes, d->arena);
    cells[PADDING] = padding_text(d, &buffer.row);
    cells[BUFFER_CATEGORY] = buffer.category;
    cells[NAME] = keep_text(d, buffer.words.name);
    cells[SHAPE] = shape_words(d, buffer.words.shape);
    cells[OPERATION] = keep_text(d, buffer.words.op_name);
    cells[SOURCE] = keep_text(d, bytes_of(buffer.source));
}

static const char *buffers_title(const struct details *d) {
    size_t shown = d->space.shown_count, all = shown + d->space.left_out_count;
    if (shown == 0) return arena_printf(d->arena, "Buffers at the peak: %zu; --top N lists the largest.", all);
    if (all == 1) return "The only buffer at the peak:";
    if (shown == all) return arena_printf(d->arena, "All %zu buffers at the peak:", all);
    return arena_printf(d->arena, "The largest %zu of %zu buffers at the peak (--top N for more):", shown, all);
}

static void write_buffers(struct details *d) {
    struct table table = table_make(buffer_columns, BUFFER_COLUMN_COUNT, d->arena);
    const char *title = buffers_title(d);
    if (title) report_page_paragraph(d->page, title);
    for (size_t i = 0; i < d->space.shown_count; i++) add_buffer(d, &table, i);
    if (table.row_count) report_page_table(d->page, &table);
}

// --- The whole ---

static void write_space(struct report *report, struct details *d, int64_t space, bool others) {
    write_heading(d, space, others);
    write_peak(d);
    write_categories(d);
    write_compiler_report(d);
    if (report->options.space == REPORT_ALL) write_other_spaces(report, d, space);
    if (d->space.view->at_peak_count) write_buffers(d);
    const char *notes[MEMORY_VIEW_NOTES_MAX];
    for (size_t i = 0; i < d->space.notes.count; i++) notes[i] = keep_text(d, bytes_of(d->space.notes.texts[i]));
    report_page_list(d->page, notes, d->space.notes.count);
}

void report_details_write(struct report *report, const struct report_overview_row *row, bool others,
                          struct report_page *page) {
    struct report_module module;
    struct details details = {.module = &module, .arena = &module.arena, .page = page};
    if (report_module_load(report, row->program, &module) &&
        report_space_build(report, &module, row->space, &details.space))
        write_space(report, &details, row->space, others);
    report_module_free(&module);
}
