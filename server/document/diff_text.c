#include <inttypes.h>

#include "analysis/base/clamped.h"
#include "analysis/base/size_text.h"
#include "analysis/base/text_writer.h"
#include "server/document/diff_document.h"
#include "server/text/printable.h"

// --- Verdict ---

// " (-53.5%)"
static const char *percent(int64_t before, int64_t delta, struct arena *arena) {
    const char *text = before > 0 ? arena_printf(arena, " (%+.1f%%)", 100.0 * (double)delta / (double)before) : "";
    return text ? text : "";
}

// "10.81 GiB -> 5.03 GiB: -5.78 GiB (-53.5%)"
static const char *from_to(int64_t before, int64_t after, struct arena *arena) {
    const char *a = size_string(before, arena), *b = size_string(after, arena);
    const char *text = before == after ? arena_printf(arena, "%s, as before", b)
                                       : arena_printf(arena, "%s -> %s: %s%s", a, b, diff_size(after - before, arena),
                                                      percent(before, after - before, arena));
    return text ? text : "";
}

static void write_heading(const struct diff_document *document, struct page *page) {
    char name[MEMORY_SPACE_NAME_BYTES];
    struct arena *arena = page->arena;
    page_heading(page,
                 arena_printf(arena, "%s / %s -> %s / %s, %s", printable_text(bytes_of(document->a.session), arena),
                              printable_text(document->a.module, arena),
                              printable_text(bytes_of(document->b.session), arena),
                              printable_text(document->b.module, arena), memory_space_name(document->space, name)));
}

static void write_verdict(const struct diff_document *document, struct page *page) {
    const struct memory_view *a = document->diff->a.view, *b = document->diff->b.view;
    struct arena *arena = page->arena;
    page_paragraph(page, arena_printf(arena, "Peak %s. Total %s.", from_to(a->peak_bytes, b->peak_bytes, arena),
                                      from_to(a->totals.total_bytes, b->totals.total_bytes, arena)));
    if (document->limit_bytes == DIFF_NO_LIMIT) return;
    const char *figure = document->limits_total ? "total" : "peak";
    const char *limit = size_string(document->limit_bytes, arena);
    page_paragraph(page, diff_document_is_over(document)
                             ? arena_printf(arena, "OVER THE LIMIT: the %s grew by %s, and may by %s.", figure,
                                            size_string(diff_document_delta(document), arena), limit)
                             : arena_printf(arena, "Within the limit: the %s may grow by %s.", figure, limit));
}

static void write_findings(const struct memory_diff *diff, struct page *page) {
    const char *texts[DIFF_FINDING_COUNT];
    size_t count = 0;
    for (int i = 0; i < DIFF_FINDING_COUNT; i++) {
        struct diff_finding_told told;
        if (diff_finding_tell(diff, (enum diff_finding)i, page->arena, &told)) texts[count++] = told.text;
    }
    page_list(page, texts, count);
}

// --- Categories ---

static void add_category(struct table *table, const char *name, int64_t a, int64_t b, struct arena *arena) {
    TABLE_ADD(table, name, size_string(a, arena), size_string(b, arena),
              a == b ? "-" : diff_size(clamped_subtract(b, a), arena));
}

static void write_categories(const struct memory_diff *diff, struct page *page) {
    static const struct table_column columns[] = {{"Category", TABLE_LEFT, false},
                                                  {"Before", TABLE_RIGHT, false},
                                                  {"After", TABLE_RIGHT, false},
                                                  {"Change", TABLE_RIGHT, false}};
    const struct memory_view *a = diff->a.view, *b = diff->b.view;
    const struct memory_totals *of_a = &a->totals, *of_b = &b->totals;
    struct table table = table_make(columns, sizeof columns / sizeof *columns, page->arena);
    for (int i = 0; i < ALLOCATION_CATEGORY_COUNT; i++) {
        if (i != ALLOCATION_THREAD_LOCAL && (of_a->bytes[i] || of_b->bytes[i]))
            add_category(&table, allocation_category_name((enum allocation_category)i), of_a->bytes[i], of_b->bytes[i],
                         page->arena);
    }
    add_category(&table, "total", of_a->total_bytes, of_b->total_bytes, page->arena);
    int64_t of_a_rest = of_a->total_bytes - a->peak_bytes, of_b_rest = of_b->total_bytes - b->peak_bytes;
    if (of_a_rest || of_b_rest) add_category(&table, "of it not in the peak", of_a_rest, of_b_rest, page->arena);
    page_table(page, &table);
}

// --- Groups ---

static uint32_t at_most(uint32_t count, int top) {
    return top != DIFF_ALL && (uint32_t)top < count ? (uint32_t)top : count;
}

// "24 -> 12"
static const char *counts(uint32_t a, uint32_t b, struct arena *arena) {
    return a == b ? arena_printf(arena, "%" PRIu32, a) : arena_printf(arena, "%" PRIu32 " -> %" PRIu32, a, b);
}

static const char *key_text(const struct group_delta *row, struct arena *arena) {
    const char *key = printable_text(row->key, arena);
    if (bytes_equal(row->key, row->a_key)) return key;
    return arena_printf(arena, "%s (was %s)", key, printable_text(row->a_key, arena));
}

static const char *by_words(const struct group_deltas *deltas) {
    if (deltas->by != GROUP_BY_SOURCE) return memory_group_by_name(deltas->by);
    return deltas->rule == GROUP_RULE_NAMES ? "operation" : "line";
}

static void write_group_rows(const struct group_deltas *deltas, uint32_t shown, struct page *page) {
    static const struct table_column columns[] = {{"Change", TABLE_RIGHT, false},
                                                  {"Before", TABLE_RIGHT, false},
                                                  {"After", TABLE_RIGHT, false},
                                                  {"Buffers", TABLE_RIGHT, false},
                                                  {"Held by", TABLE_SHRINKING, false}};
    struct arena *arena = page->arena;
    struct table table = table_make(columns, sizeof columns / sizeof *columns, arena);
    for (uint32_t i = 0; i < shown; i++) {
        const struct group_delta *row = &deltas->rows[i];
        TABLE_ADD(&table, diff_size(row->delta_bytes, arena), row->a_buffers ? size_string(row->a_bytes, arena) : "-",
                  row->b_buffers ? size_string(row->b_bytes, arena) : "-",
                  counts(row->a_buffers, row->b_buffers, arena), key_text(row, arena));
    }
    page_table(page, &table);
}

// What the rows do not hold of the difference of the totals.
static const char *rest_of_total(const struct memory_diff *diff, struct arena *arena) {
    int64_t beyond = diff_fragmentation_delta(diff);
    return arena_printf(arena, "These sum to the peak's %s; with %s reserved beyond it, to the total's %s.",
                        diff_size(diff->peak_delta_bytes, arena), diff_size(beyond, arena),
                        diff_size(diff->total_delta_bytes, arena));
}

static void write_group_remarks(const struct memory_diff *diff, uint32_t shown, struct page *page) {
    const struct group_deltas *deltas = &diff->groups;
    const char *remarks[4];
    size_t count = 0;
    int64_t rest = 0;
    for (uint32_t i = shown; i < deltas->row_count; i++) rest += deltas->rows[i].delta_bytes;
    if (shown < deltas->row_count)
        remarks[count++] = arena_printf(page->arena, "%" PRIu32 " more change by %s in all.", deltas->row_count - shown,
                                        diff_size(rest, page->arena));
    if (deltas->unchanged_count)
        remarks[count++] = arena_printf(page->arena, "%" PRIu32 " hold what they held: %s.", deltas->unchanged_count,
                                        size_string(deltas->unchanged_bytes, page->arena));
    if (diff_fragmentation_delta(diff)) remarks[count++] = rest_of_total(diff, page->arena);
    if (deltas->rule == GROUP_RULE_NAMES)
        remarks[count++] = "One line holds more than 80% of what is computed, so operations stand for it, with layer "
                           "numbers starred.";
    page_list(page, remarks, count);
}

static void write_groups(const struct memory_diff *diff, int top, struct page *page) {
    const struct group_deltas *deltas = &diff->groups;
    uint32_t shown = at_most(deltas->row_count, top);
    if (!deltas->row_count) {
        page_paragraph(page, arena_printf(page->arena, "By %s nothing changed at the peak.", by_words(deltas)));
        return;
    }
    const char *rows = shown == deltas->row_count
                           ? ""
                           : arena_printf(page->arena, " (%" PRIu32 " of %" PRIu32 ")", shown, deltas->row_count);
    if (rows)
        page_paragraph(page, arena_printf(page->arena, "What changed at the peak, by %s%s:", by_words(deltas), rows));
    write_group_rows(deltas, shown, page);
    write_group_remarks(diff, shown, page);
}

// --- The whole ---

void diff_text_write(const struct diff_document *document, struct page *page) {
    const struct memory_diff *diff = document->diff;
    write_heading(document, page);
    write_verdict(document, page);
    write_findings(diff, page);
    write_categories(diff, page);
    write_groups(diff, document->top, page);
    diff_text_buffers_write(diff, document->top, page);
    diff_text_others_write(document, page);
}
