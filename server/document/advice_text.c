#include "server/document/advice_text.h"

#include <stdlib.h>

#include "analysis/base/size_text.h"

static void put(struct output *output, const char *text) {
    if (text) output_append(output, bytes_of(text));
}

static void write_head(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output) {
    const struct advice *advice = document->advice;
    char total[SIZE_TEXT_BYTES], peak[SIZE_TEXT_BYTES], capacity[SIZE_TEXT_BYTES];
    put(output, arena_printf(arena,
                             "%s%s\n\nNeeds %s of HBM, %s at its peak; the program's own code and what the "
                             "runtime reserves are not counted.\n",
                             is_markdown ? "# " : "", document->module, size_text(advice->total_bytes, total),
                             size_text(advice->peak_bytes, peak)));
    if (advice->batch) put(output, arena_printf(arena, "The batch is %lld.\n", (long long)advice->batch));
    if (advice->capacity_bytes > 0)
        put(output, arena_printf(arena, "The capacity is %s: it %s.\n", size_text(advice->capacity_bytes, capacity),
                                 advice->plan.is_needed ? "does not fit" : "fits"));
}

static void write_plan(const struct advice_plan *plan, struct arena *arena, struct output *output) {
    char total[SIZE_TEXT_BYTES];
    if (!plan->is_needed) return;
    if (!plan->fits) {
        put(output, "\nNo set of these changes fits it; a larger chip, or more of them (--ways), is needed.\n");
        return;
    }
    put(output, "\nThe smallest set of changes that fits: ");
    for (size_t i = 0; i < plan->count; i++)
        put(output, arena_printf(arena, "%s%s", i ? " and " : "", advice_id_name(plan->ids[i])));
    put(output, arena_printf(arena, ", about %s together.\n", size_text(plan->predicted_total_bytes, total)));
}

static void write_item(const struct advice_item *item, bool is_markdown, struct arena *arena, struct output *output) {
    char saves[SIZE_TEXT_BYTES], total[SIZE_TEXT_BYTES], low[SIZE_TEXT_BYTES], high[SIZE_TEXT_BYTES];
    put(output, arena_printf(arena, "\n%s%s", is_markdown ? "## " : "", advice_id_name(item->id)));
    if (item->ways) put(output, arena_printf(arena, " (%lld ways)", (long long)item->ways));
    put(output,
        arena_printf(arena, "%s%s %s: %s (%s to %s)%s\n", is_markdown ? "\n\n" : "  ",
                     item->saves_bytes < 0 ? "costs" : "saves",
                     size_text(item->saves_bytes < 0 ? -item->saves_bytes : item->saves_bytes, saves),
                     size_text(item->predicted_total_bytes, total), size_text(item->low_bytes, low),
                     size_text(item->high_bytes, high), item->changes_numerics ? "; changes the numerics" : ""));
    if (is_markdown) put(output, "\n");
    for (size_t i = 0; i < item->evidence_count; i++)
        put(output, arena_printf(arena, "%s%s\n", is_markdown ? "- " : "    ", item->evidence[i]));
    put(output, arena_printf(arena, "%s%s\n", is_markdown ? "- " : "    ", item->how));
}

static int most_saved_first(const void *left, const void *right) {
    const struct advice_item *const *a = left, *const *b = right;
    int64_t x = (*a)->saves_bytes, y = (*b)->saves_bytes;
    return x != y ? (x < y) - (x > y) : ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

static void write_others(const struct advice_item *const *items, size_t count, bool is_markdown, struct arena *arena,
                         struct output *output) {
    put(output, is_markdown ? "\n## Do not apply\n\n" : "\nDo not apply here:\n");
    for (size_t i = 0; i < count; i++) {
        if (items[i]->applies) continue;
        put(output, arena_printf(arena, "%s%s: %s\n", is_markdown ? "- " : "    ", advice_id_name(items[i]->id),
                                 items[i]->evidence_count ? items[i]->evidence[0] : ""));
    }
}

void advice_text_write(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output) {
    const struct advice_item *items[ADVICE_ID_COUNT];
    for (int id = 0; id < ADVICE_ID_COUNT; id++) items[id] = &document->advice->items[id];
    qsort(items, ADVICE_ID_COUNT, sizeof items[0], most_saved_first);
    write_head(document, is_markdown, arena, output);
    write_plan(&document->advice->plan, arena, output);
    for (int i = 0; i < ADVICE_ID_COUNT; i++) {
        if (items[i]->applies) write_item(items[i], is_markdown, arena, output);
    }
    write_others(items, ADVICE_ID_COUNT, is_markdown, arena, output);
}
