#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "server/document/diff_document.h"
#include "server/document/trend_document.h"
#include "server/text/plot.h"
#include "server/text/printable.h"

enum { ROWS_MAX = 60, JUMP_ROWS_MAX = 8 };

static const char *percent(int64_t before, int64_t delta, struct arena *arena) {
    const char *text = before > 0 ? arena_printf(arena, " (%+.1f%%)", 100.0 * (double)delta / (double)before) : "";
    return text ? text : "";
}

// --- The verdict ---

static void write_heading(const struct trend *trend, struct page *page) {
    char name[MEMORY_SPACE_NAME_BYTES];
    struct arena *arena = page->arena;
    bool is_program = trend->question.tool == TREND_PROGRAM;
    const char *space = is_program ? arena_printf(arena, ", %s", memory_space_name(trend->question.space, name)) : "";
    const char *of = trend->question.tool == TREND_DEVICE_MEMORY ? "file" : "session";
    page_heading(page, arena_printf(arena, "%s over %" PRIu32 " %s%s%s", printable_text(trend->subject, arena),
                                    trend->count, of, trend->count == 1 ? "" : "s", space ? space : ""));
}

static void write_names(const struct trend *trend, struct page *page) {
    if (trend->question.subject || trend->name_count < 2) return;
    page_paragraph(page,
                   arena_printf(page->arena,
                                "It is the largest of the newest session; --%s follows another of the %" PRIu32
                                " that are here.",
                                trend->question.tool == TREND_PROGRAM ? "module" : "memory-id", trend->name_count));
}

static void write_verdict(const struct trend_document *document, struct page *page) {
    const struct trend *trend = document->trend;
    struct arena *arena = page->arena;
    uint32_t last = trend_point_before(trend->figures, trend->count);
    if (last == TREND_NOWHERE) {
        page_paragraph(page, "No session tells its memory.");
    } else if (trend_point_before(trend->figures, last) == TREND_NOWHERE) {
        page_paragraph(page, arena_printf(arena, "One session only, %s: the peak is %s.",
                                          trend_point_words(trend, last, arena),
                                          size_string(trend->figures[last]->peak_bytes, arena)));
    } else if (!document->jump) {
        page_paragraph(page, "The peak never grew from one session to the next.");
    } else {
        page_paragraph(page,
                       arena_printf(arena, "The largest jump of the peak: %s.", trend_jump_text(document, arena)));
    }
}

static void write_limit(const struct trend_document *document, struct page *page) {
    struct trend_growth growth;
    struct arena *arena = page->arena;
    const char *figure = document->limit.is_of_total ? "total" : "peak";
    if (document->limit.kind == TREND_NO_LIMIT) return;
    if (!trend_growth_of(document, &growth)) {
        page_paragraph(page, "There are no two sessions to compare, so no limit was passed.");
        return;
    }
    page_paragraph(page, arena_printf(arena, "%s: the %s of %s is %s, %s%s since %s; it may grow by %s.",
                                      growth.is_over ? "OVER THE LIMIT" : "Within the limit", figure,
                                      trend_point_words(document->trend, growth.after, arena),
                                      size_string(growth.after_bytes, arena), diff_size(growth.delta_bytes, arena),
                                      percent(growth.before_bytes, growth.delta_bytes, arena),
                                      trend_point_words(document->trend, growth.before, arena),
                                      size_string(growth.limit_bytes, arena)));
}

// --- The curve ---

// Each point as wide as there is room; the highest of several in a column.
static void write_curve(const struct trend *trend, struct page *page) {
    int64_t highest = 0;
    for (uint32_t i = 0; i < trend->count; i++) {
        if (trend->figures[i] && trend->figures[i]->peak_bytes > highest) highest = trend->figures[i]->peak_bytes;
    }
    const char *label = size_string(highest, page->arena);
    size_t columns = plot_columns(page, label), peak = 0;
    int64_t *values = arena_new(page->arena, int64_t, columns + 1);
    if (page->is_markdown || trend->ready_count < 2 || columns == 0 || !values || !highest) return;
    if (trend->count < columns) columns -= columns % trend->count;
    for (size_t i = 0; i < columns || i < trend->count; i++) {
        uint32_t point = columns >= trend->count ? (uint32_t)(i * trend->count / columns) : (uint32_t)i;
        size_t column = columns >= trend->count ? i : i * columns / trend->count;
        int64_t value = trend->figures[point] ? trend->figures[point]->peak_bytes : 0;
        if (value > values[column]) values[column] = value;
        if (values[column] > values[peak]) peak = column;
    }
    plot_write(page, values, columns, peak, label);
}

// --- The sessions ---

static const char *session_text(const struct trend_point *point, struct arena *arena) {
    const char *session = printable_text(bytes_of(point->session), arena);
    if (!point->file || strcmp(point->file, point->session) == 0) return session;
    const char *text = arena_printf(arena, "%s / %s", session, printable_text(bytes_of(point->file), arena));
    return text ? text : "";
}

// The name, and how many more of the session are called so.
static const char *name_text(const struct trend_point *point, struct arena *arena) {
    const char *name = printable_text(point->name, arena);
    return point->of > 1 ? arena_printf(arena, "%s +%" PRIu32, name, point->of - 1) : name;
}

static const char *holder_text(const struct trend_figures *figures, struct arena *arena) {
    if (!figures->holder_count) return "";
    const struct trend_holder *most = &figures->holders[0];
    return arena_printf(arena, "%s %s", printable_text(most->key, arena), size_string(most->bytes, arena));
}

static void add_point(const struct trend *trend, uint32_t at, struct table *table, struct arena *arena) {
    const struct trend_point *point = &trend->points[at];
    const struct trend_figures *figures = point->figures;
    const char *session = session_text(point, arena);
    if (!figures) {
        TABLE_ADD(table, session, "", "-", "", "", trend_state_names[point->state],
                  point->reason ? printable_text(bytes_of(point->reason->message), arena) : "");
        return;
    }
    uint32_t before = trend_point_before(trend->figures, at);
    int64_t delta = before == TREND_NOWHERE ? 0 : figures->peak_bytes - trend->figures[before]->peak_bytes;
    TABLE_ADD(table, session, name_text(point, arena), size_string(figures->peak_bytes, arena),
              delta ? diff_size(delta, arena) : "",
              figures->total_bytes == TREND_UNKNOWN ? "" : size_string(figures->total_bytes, arena),
              holder_text(figures, arena));
}

// Names that are all one stand in the heading.
static bool has_several_names(const struct trend *trend) {
    const struct trend_point *first = NULL;
    for (uint32_t i = 0; i < trend->count; i++) {
        const struct trend_point *point = &trend->points[i];
        if (!point->figures) continue;
        if (!first) first = point;
        if (point->of > 1 || !bytes_equal(point->name, first->name)) return true;
    }
    return false;
}

static void write_points(const struct trend *trend, struct page *page) {
    bool is_program = trend->question.tool == TREND_PROGRAM;
    const struct table_column columns[] = {
        {"Session", TABLE_LEFT, false},
        {is_program ? "Module" : "Memory", TABLE_SHRINKING,
         trend->question.tool == TREND_DEVICE_MEMORY || !has_several_names(trend)},
        {"Peak", TABLE_RIGHT, false},
        {"Change", TABLE_RIGHT, false},
        {"Total", TABLE_RIGHT, !is_program},
        {"Held by", TABLE_SHRINKING, false},
        {"Reason", TABLE_BELOW, trend->ready_count == trend->count},
    };
    struct table table = table_make(columns, sizeof columns / sizeof *columns, page->arena);
    uint32_t first = trend->count > ROWS_MAX ? trend->count - ROWS_MAX : 0;
    for (uint32_t i = first; i < trend->count; i++) add_point(trend, i, &table, page->arena);
    page_table(page, &table);
    if (first)
        page_paragraph(
            page,
            arena_printf(page->arena, "%" PRIu32 " older ones are not listed here; json and csv have them.", first));
}

// --- What changed ---

static void write_deltas(const struct trend_document *document, struct page *page) {
    static const struct table_column columns[] = {{"Change", TABLE_RIGHT, false},
                                                  {"Before", TABLE_RIGHT, false},
                                                  {"After", TABLE_RIGHT, false},
                                                  {"Buffers", TABLE_RIGHT, false},
                                                  {"Held by", TABLE_SHRINKING, false}};
    const struct trend_jump *jump = document->jump;
    struct arena *arena = page->arena;
    struct table table = table_make(columns, sizeof columns / sizeof *columns, arena);
    if (!jump || !jump->deltas->count) return;
    page_paragraph(page, arena_printf(arena, "What changed from %s to %s:",
                                      trend_point_words(document->trend, jump->before, arena),
                                      trend_point_words(document->trend, jump->after, arena)));
    for (uint32_t i = 0; i < jump->deltas->count && i < JUMP_ROWS_MAX; i++) {
        const struct trend_delta *row = &jump->deltas->rows[i];
        const char *key = printable_text(row->key, arena);
        if (!bytes_equal(row->key, row->a_key))
            key = arena_printf(arena, "%s (was %s)", key, printable_text(row->a_key, arena));
        TABLE_ADD(&table, diff_size(row->delta_bytes, arena), size_string(row->a_bytes, arena),
                  size_string(row->b_bytes, arena),
                  arena_printf(arena, "%" PRIu32 " -> %" PRIu32, row->a_buffers, row->b_buffers), key);
    }
    page_table(page, &table);
    const char *compare = document->trend->question.tool == TREND_PROGRAM
                              ? "hbmview diff of the two session folders tells all of it, buffer by buffer."
                              : NULL;
    if (compare) page_paragraph(page, compare);
    if (jump->reason)
        page_paragraph(page, arena_printf(arena, "The two could not be compared buffer by buffer: %s",
                                          printable_text(bytes_of(jump->reason->message), arena)));
}

void trend_text_write(const struct trend_document *document, struct page *page) {
    const struct trend *trend = document->trend;
    write_heading(trend, page);
    write_verdict(document, page);
    write_limit(document, page);
    write_names(trend, page);
    write_curve(trend, page);
    write_points(trend, page);
    write_deltas(document, page);
    if (trend->left_out)
        page_paragraph(page,
                       arena_printf(page->arena, "%" PRIu32 " older sessions were not asked for.", trend->left_out));
}
