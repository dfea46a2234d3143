#include "server/command/report_groups.h"

#include <inttypes.h>
#include <unistd.h>

#include "analysis/base/size_text.h"
#include "server/document/groups_json.h"
#include "server/text/plot.h"
#include "server/text/printable.h"

// --- Groups ---

static const char *by_words(const struct memory_grouping *grouping) {
    if (grouping->by != GROUP_BY_SOURCE) return memory_group_by_name(grouping->by);
    return grouping->rule == GROUP_RULE_NAMES ? "operation" : "line";
}

static const char *when(const struct memory_grouping *grouping, const struct memory_groups *groups,
                        struct arena *arena) {
    if (groups->step == memory_groups_peak_step(grouping->view)) return "at the peak";
    struct bytes name = grouping->view->replay.instruction_names[groups->step];
    return arena_printf(arena, "at step %" PRIu32 " (%s), of %s", groups->step, printable_text(name, arena),
                        size_string(groups->live_bytes, arena));
}

static const char *weight_words(const struct memory_groups *groups) {
    static const char *const words[GROUP_WEIGHT_COUNT] = {
        [GROUP_WEIGHT_SIZE] = "",
        [GROUP_WEIGHT_PADDING] = ", shares of the padding",
        [GROUP_WEIGHT_SIZE_X_LIFETIME] = ", shares of size x lifetime",
    };
    return words[groups->weight];
}

static void write_title(const struct report_groups *made, struct page *page) {
    const char *step = when(&made->grouping, &made->groups, page->arena);
    bool is_cut = made->shown_count < made->groups.row_count;
    const char *rows = !is_cut ? ""
                               : arena_printf(page->arena, " (%" PRIu32 " of %" PRIu32 ")", made->shown_count,
                                              made->groups.row_count);
    if (step && rows)
        page_paragraph(page, arena_printf(page->arena, "Who holds it %s, by %s%s%s:", step, by_words(&made->grouping),
                                          weight_words(&made->groups), rows));
}

static void write_rows(const struct report_groups *made, struct page *page) {
    static const struct table_column columns[] = {{"Size", TABLE_RIGHT, false},
                                                  {"Share", TABLE_RIGHT, false},
                                                  {"Buffers", TABLE_RIGHT, false},
                                                  {"Padding", TABLE_RIGHT, false},
                                                  {"Held by", TABLE_SHRINKING, false}};
    struct arena *arena = page->arena;
    struct table table = table_make(columns, sizeof columns / sizeof *columns, arena);
    for (uint32_t i = 0; i < made->shown_count; i++) {
        struct group_row row = group_row_of(&made->groups, i);
        TABLE_ADD(&table, size_string(row.size_bytes, arena), arena_printf(arena, "%.1f%%", 100 * row.share),
                  arena_printf(arena, "%" PRIu32, row.buffers),
                  row.padding_bytes ? size_string(row.padding_bytes, arena) : "-", printable_text(row.key, arena));
    }
    page_table(page, &table);
}

// What the table leaves out, and how it came to its names.
static void write_remarks(const struct report_groups *made, struct page *page) {
    const struct memory_groups *groups = &made->groups;
    const char *remarks[3];
    size_t count = 0;
    if (made->shown_count < groups->row_count) {
        struct group_row rest = group_rest(groups, made->shown_count);
        remarks[count++] = arena_printf(page->arena, "%" PRIu32 " more hold %s (%.1f%%).",
                                        groups->row_count - made->shown_count,
                                        size_string(rest.size_bytes, page->arena), 100 * rest.share);
    }
    if (made->grouping.by == GROUP_BY_SOURCE && made->grouping.rule == GROUP_RULE_NAMES)
        remarks[count++] = "One line holds more than 80% of what is computed, so operations stand for it, with layer "
                           "numbers starred.";
    if (groups->unknown_bytes)
        remarks[count++] = arena_printf(page->arena, "Of %s nothing is known.",
                                        size_string(groups->unknown_bytes, page->arena));
    page_list(page, remarks, count);
}

void report_groups_write(struct report *report, struct report_module *module, const struct memory_view *view,
                         struct page *page) {
    struct report_groups made;
    if (!report_groups_make(report, module, view, &made)) return;
    write_title(&made, page);
    write_rows(&made, page);
    write_remarks(&made, page);
}

// --- The curve ---

// The most that is live in each column of the chart.
static int64_t *highest_of_columns(const struct memory_view *view, size_t columns, size_t *peak, struct arena *arena) {
    const struct heap_replay *replay = &view->replay;
    uint64_t positions = (uint64_t)replay->step_count + 1;
    int64_t *highest = arena_new(arena, int64_t, columns);
    for (uint64_t i = 0; highest && i < positions; i++) {
        size_t column = (size_t)(i * columns / positions);
        int64_t live = view->indefinite_bytes + replay->heap_bytes[i];
        if (live > highest[column]) highest[column] = live;
        if (i == (uint64_t)replay->peak_position + 1) *peak = column;
    }
    return highest;
}

void report_curve_write(const struct report *report, const struct memory_view *view, struct page *page) {
    const char *label = size_string(view->peak_bytes, page->arena);
    size_t columns = plot_columns(page, label), peak = 0;
    if (page->is_markdown || !isatty(report->sink.fd) || !view->has_simulation || !view->peak_bytes) return;
    if (columns > (size_t)view->replay.step_count + 1) columns = (size_t)view->replay.step_count + 1;
    int64_t *highest = columns ? highest_of_columns(view, columns, &peak, page->arena) : NULL;
    if (highest) plot_write(page, highest, columns, peak, label);
}
