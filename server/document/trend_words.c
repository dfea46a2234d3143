#include <inttypes.h>

#include "analysis/base/size_text.h"
#include "analysis/base/text_writer.h"
#include "server/document/diff_document.h"
#include "server/document/trend_document.h"
#include "server/text/printable.h"
#include "server/trend/session_time.h"

const char *const trend_tool_names[] = {
    [TREND_PROGRAM] = "memory_viewer", [TREND_PROFILE] = "memory_profile", [TREND_DEVICE_MEMORY] = "device_memory"};
const char *const trend_state_names[] = {
    [TREND_PENDING] = "pending", [TREND_READY] = "ready", [TREND_ABSENT] = "absent", [TREND_ERROR] = "error"};

// --- The newest ---

static int64_t figure_of(const struct trend_figures *figures, const struct trend_limit *limit) {
    return limit->is_of_total ? figures->total_bytes : figures->peak_bytes;
}

static int64_t most_of(const struct trend_limit *limit, int64_t before) {
    return limit->kind == TREND_LIMIT_BYTES ? limit->bytes : (int64_t)((double)before * limit->percent / 100);
}

bool trend_growth_of(const struct trend_document *document, struct trend_growth *growth) {
    const struct trend *trend = document->trend;
    uint32_t after = trend_point_before(trend->figures, trend->count);
    uint32_t before = after == TREND_NOWHERE ? TREND_NOWHERE : trend_point_before(trend->figures, after);
    if (before == TREND_NOWHERE) return false;
    *growth = (struct trend_growth){.before = before,
                                    .after = after,
                                    .before_bytes = figure_of(trend->figures[before], &document->limit),
                                    .after_bytes = figure_of(trend->figures[after], &document->limit)};
    growth->delta_bytes = growth->after_bytes - growth->before_bytes;
    growth->limit_bytes = most_of(&document->limit, growth->before_bytes);
    growth->is_over = document->limit.kind != TREND_NO_LIMIT && growth->delta_bytes > growth->limit_bytes;
    return true;
}

// --- A point ---

enum { DAY_S = 24 * 60 * 60 };

// Whether the day alone tells it from its neighbours.
static bool has_day_of_its_own(const struct trend *trend, uint32_t at) {
    int64_t day = trend->points[at].time_s / DAY_S;
    return (at == 0 || trend->points[at - 1].time_s / DAY_S != day) &&
           (at + 1 == trend->count || trend->points[at + 1].time_s / DAY_S != day);
}

const char *trend_point_words(const struct trend *trend, uint32_t at, struct arena *arena) {
    const struct trend_point *point = &trend->points[at];
    if (point->is_time_of_name) return session_date(point->time_s, !has_day_of_its_own(trend, at), arena);
    const char *session = printable_text(bytes_of(point->session), arena);
    if (!point->file || strcmp(point->file, point->session) == 0) return session;
    const char *words = arena_printf(arena, "%s / %s", session, printable_text(bytes_of(point->file), arena));
    return words ? words : "";
}

// --- The jump ---

enum { HOLDERS_TOLD = 2, SHARE_TOLD = 10 };  // those of a tenth of the jump at least

static void put_holder(const struct trend_document *document, const struct trend_delta *row, bool is_first,
                       struct text_writer *text) {
    const struct trend_question *question = &document->trend->question;
    bool is_line = question->tool != TREND_PROFILE && question->by == GROUP_BY_SOURCE;
    text_put(text, is_first ? ", " : " and ");
    text_put(text, diff_size(row->delta_bytes, text->arena));
    text_put(text, is_first ? " of it " : " ");
    text_put(text, is_line ? "at " : "in ");
    text_put(text, printable_text(row->key, text->arena));
    const char *counts = row->a_buffers == row->b_buffers
                             ? arena_printf(text->arena, " (%" PRIu32 " buffers)", row->b_buffers)
                             : arena_printf(text->arena, " (%" PRIu32 " -> %" PRIu32 " buffers)", row->a_buffers,
                                            row->b_buffers);
    text_put(text, counts ? counts : "");
}

const char *trend_jump_text(const struct trend_document *document, struct arena *arena) {
    const struct trend_jump *jump = document->jump;
    struct text_writer text = {.arena = arena};
    uint32_t told = 0;
    if (!jump) return "";
    const struct trend_figures *a = document->trend->figures[jump->before];
    const struct trend_figures *b = document->trend->figures[jump->after];
    const char *whole = arena_printf(arena, "%s: %s (%s -> %s)", trend_point_words(document->trend, jump->after, arena),
                                     diff_size(jump->peak_delta_bytes, arena), size_string(a->peak_bytes, arena),
                                     size_string(b->peak_bytes, arena));
    text_put(&text, whole ? whole : "");
    for (uint32_t i = 0; i < jump->deltas->count && told < HOLDERS_TOLD; i++) {
        const struct trend_delta *row = &jump->deltas->rows[i];
        if (row->delta_bytes >= jump->peak_delta_bytes / SHARE_TOLD && row->delta_bytes > 0)
            put_holder(document, row, told++ == 0, &text);
    }
    const char *words = text_writer_finish(&text);
    return words ? words : "";
}
