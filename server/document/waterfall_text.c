#include "server/document/waterfall_text.h"

#include <string.h>

#include "analysis/base/size_text.h"
#include "server/document/advice_document.h"

enum { BAR_COLUMNS = 40 };

struct drawing {
    int64_t scale_bytes;  // as BAR_COLUMNS
    int name_columns;
    struct arena *arena;
};

static int columns_of(const struct drawing *drawing, int64_t bytes) {
    if (bytes <= 0 || drawing->scale_bytes <= 0) return 0;
    int columns = (int)((double)bytes / (double)drawing->scale_bytes * BAR_COLUMNS + 0.5);
    return columns < 1 ? 1 : columns > BAR_COLUMNS ? BAR_COLUMNS : columns;
}

static const char *repeated(const struct drawing *drawing, char what, int count) {
    char text[BAR_COLUMNS + 1] = "";
    memset(text, what, count > 0 ? (size_t)count : 0);
    return arena_string(drawing->arena, bytes_of(text));
}

// As many bytes as `total`, and dots up to `before`.
static const char *bar(const struct drawing *drawing, int64_t total, int64_t before) {
    int full = columns_of(drawing, total), gone = columns_of(drawing, before) - full;
    return arena_printf(drawing->arena, "%s%s", repeated(drawing, '#', full), repeated(drawing, '.', gone));
}

static const char *step_text(const struct drawing *drawing, const struct advice_step *step) {
    int64_t before = step->predicted_total_bytes + step->saves_bytes;
    const char *saves = size_string(step->saves_bytes < 0 ? -step->saves_bytes : step->saves_bytes, drawing->arena);
    return arena_printf(drawing->arena, "    %-*s %11s  %c%-11s %s\n", drawing->name_columns, advice_step_name(step),
                        size_string(step->predicted_total_bytes, drawing->arena), step->saves_bytes < 0 ? '+' : '-',
                        saves, bar(drawing, step->predicted_total_bytes, before));
}

static const char *today_text(const struct drawing *drawing, int64_t total) {
    return arena_printf(drawing->arena, "    %-*s %11s  %-12s %s\n", drawing->name_columns, "today",
                        size_string(total, drawing->arena), "", bar(drawing, total, total));
}

static const char *capacity_text(const struct drawing *drawing, int64_t capacity) {
    int before = columns_of(drawing, capacity) - 1;
    return arena_printf(drawing->arena, "    %-*s %11s  %-12s %s^\n", drawing->name_columns, "capacity",
                        size_string(capacity, drawing->arena), "", repeated(drawing, ' ', before));
}

static struct drawing drawing_for(const struct advice *advice, const struct advice_plan *plan, struct arena *arena) {
    struct drawing drawing = {advice->total_bytes, (int)strlen("capacity"), arena};
    if (advice->capacity_bytes > drawing.scale_bytes) drawing.scale_bytes = advice->capacity_bytes;
    for (size_t i = 0; i < plan->count; i++) {
        int columns = (int)strlen(advice_step_name(&plan->steps[i]));
        if (plan->steps[i].predicted_total_bytes > drawing.scale_bytes)
            drawing.scale_bytes = plan->steps[i].predicted_total_bytes;
        if (columns > drawing.name_columns) drawing.name_columns = columns;
    }
    return drawing;
}

const char *waterfall_text(const struct advice *advice, const struct advice_plan *plan, bool is_markdown,
                           struct arena *arena) {
    struct drawing drawing = drawing_for(advice, plan, arena);
    const char *text = today_text(&drawing, advice->total_bytes);
    for (size_t i = 0; text && i < plan->count; i++)
        text = arena_printf(arena, "%s%s", text, step_text(&drawing, &plan->steps[i]));
    if (text && advice->capacity_bytes > 0)
        text = arena_printf(arena, "%s%s", text, capacity_text(&drawing, advice->capacity_bytes));
    return is_markdown && text ? arena_printf(arena, "\n```\n%s```\n", text) : text;
}
