#include "server/command/report_overview.h"

#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "analysis/base/text_writer.h"
#include "server/command/report_groups.h"
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

// Buffers that differ in their names only are one row.
struct kind {
    struct report_buffer first;
    uint32_t count;
};

struct kinds {
    struct kind *list;
    uint32_t count, most;
    uint32_t buffers;  // in all of them
    struct string_table known;
    uint32_t *kind_of;  // by the number of what it looks like; UINT32_MAX for one that is not listed
};

// What a row shows of a buffer but for its name.
static struct bytes looks_of(const struct details *d, const struct report_buffer *buffer) {
    struct text_writer text = {.arena = d->arena};
    text_put_int64(&text, buffer->row.size_bytes);
    text_put(&text, "|");
    text_put_int64(&text, buffer->row.unpadded_bytes);
    const struct bytes parts[] = {bytes_of(buffer->category), buffer->words.shape, buffer->words.op_name,
                                  buffer->source};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        text_put(&text, "|");
        text_put_bytes(&text, parts[i]);
    }
    return text_writer_bytes(&text);
}

static void count_buffer(const struct details *d, const struct report_buffer *buffer, struct kinds *kinds) {
    uint32_t before = kinds->known.count, number = string_table_put(&kinds->known, looks_of(d, buffer));
    if (kinds->known.count > before) kinds->kind_of[number] = kinds->count < kinds->most ? kinds->count : UINT32_MAX;
    if (kinds->kind_of[number] == UINT32_MAX) return;
    if (kinds->kind_of[number] == kinds->count) kinds->list[kinds->count++] = (struct kind){*buffer, 0};
    kinds->list[kinds->kind_of[number]].count++;
    kinds->buffers++;
}

// The largest kinds; what follows a full list is looked at as long as it may still be of the last one.
static bool list_kinds(struct details *d, int most, struct kinds *kinds) {
    uint32_t all = d->space.peak.largest_count;
    *kinds = (struct kinds){.most = report_at_most(all, most)};
    kinds->list = arena_push_raw(d->arena, kinds->most, sizeof *kinds->list);
    kinds->kind_of = arena_push_raw(d->arena, (size_t)all + 1, sizeof *kinds->kind_of);
    if (!kinds->list || !kinds->kind_of || !string_table_init(&kinds->known, d->arena)) return false;
    kinds->kind_of[0] = UINT32_MAX;
    for (uint32_t i = 0; i < all && kinds->most; i++) {
        struct report_buffer buffer = report_buffer_read(&d->space, i);
        bool is_full = kinds->count == kinds->most;
        if (is_full && buffer.row.size_bytes < kinds->list[kinds->count - 1].first.row.size_bytes) break;
        count_buffer(d, &buffer, kinds);
    }
    return !kinds->known.has_failed;
}

static const char *buffers_title(const struct details *d, const struct kinds *kinds) {
    uint32_t shown = kinds->buffers, all = d->space.peak.total.buffers;
    const char *rows = kinds->count < shown ? ", equal ones in one row" : "";
    if (shown == 0) return arena_printf(d->arena, "Buffers at the peak: %" PRIu32 "; --top N lists the largest.", all);
    if (all == 1) return "The only buffer at the peak:";
    if (shown == all) return arena_printf(d->arena, "All %" PRIu32 " buffers at the peak%s:", all, rows);
    return arena_printf(
        d->arena, "The largest %" PRIu32 " of %" PRIu32 " buffers at the peak%s (--top N for more):", shown, all, rows);
}

static void add_kind(const struct details *d, struct table *table, const struct kind *kind) {
    const struct report_buffer *buffer = &kind->first;
    const char *size = size_of(d, buffer->row.size_bytes), *name = words_of(d, buffer->words.name);
    if (kind->count > 1) {
        size = arena_printf(d->arena, "%" PRIu32 " x %s", kind->count, size);
        name = arena_printf(d->arena, "%s +%" PRIu32, name, kind->count - 1);
    }
    TABLE_ADD(table, size, padding_text(d, &buffer->row), buffer->category, name, shape_words(d, buffer->words.shape),
              words_of(d, buffer->words.op_name), words_of(d, buffer->source));
}

static void write_buffers(struct details *d, int most) {
    struct table table = table_make(buffer_columns, sizeof buffer_columns / sizeof *buffer_columns, d->arena);
    struct kinds kinds;
    if (!list_kinds(d, most, &kinds)) return;
    page_paragraph(d->page, buffers_title(d, &kinds));
    for (uint32_t i = 0; i < kinds.count; i++) add_kind(d, &table, &kinds.list[i]);
    page_table(d->page, &table);
}

// --- The whole ---

static void write_space(struct report *report, struct details *d, int64_t space, bool others) {
    write_heading(d, space, others);
    write_peak(d);
    write_categories(d);
    write_compiler_report(d);
    if (report->options.space == REPORT_ALL) write_other_spaces(report, d, space);
    report_curve_write(report, d->space.view, d->page);
    if (d->space.view->at_peak_count || report->options.has_groups)
        report_groups_write(report, d->module, d->space.view, d->page);
    if (d->space.view->at_peak_count && !report->options.has_groups) write_buffers(d, report->options.top);
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
