#include "server/document/advice_document.h"

#include <stdlib.h>

#include "analysis/base/size_text.h"

static void write_head(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output) {
    const struct advice *advice = document->advice;
    output_put(output, arena_printf(arena,
                                    "%s%s\n\nNeeds %s of HBM, %s at its peak; the program's own code and what the "
                                    "runtime reserves are not counted.\n",
                                    is_markdown ? "# " : "", document->module, size_string(advice->total_bytes, arena),
                                    size_string(advice->peak_bytes, arena)));
    if (advice->batch) output_put(output, arena_printf(arena, "The batch is %lld.\n", (long long)advice->batch));
    if (advice->capacity_bytes > 0)
        output_put(output,
                   arena_printf(arena, "The capacity is %s: it %s.\n", size_string(advice->capacity_bytes, arena),
                                advice->plan.is_needed ? "does not fit" : "fits"));
}

static void write_plan(const struct advice_plan *plan, struct arena *arena, struct output *output) {
    if (!plan->is_needed) return;
    if (!plan->fits) {
        output_put(output, "\nNo set of these changes fits it; a larger chip, or more of them (--ways), is needed.\n");
        return;
    }
    output_put(output, "\nThe smallest set of changes that fits: ");
    for (size_t i = 0; i < plan->count; i++)
        output_put(output, arena_printf(arena, "%s%s", i ? " and " : "", advice_id_name(plan->ids[i])));
    output_put(output, arena_printf(arena, ", about %s together.\n", size_string(plan->predicted_total_bytes, arena)));
}

static void write_item(const struct advice_item *item, bool is_markdown, struct arena *arena, struct output *output) {
    output_put(output, arena_printf(arena, "\n%s%s", is_markdown ? "## " : "", advice_id_name(item->id)));
    if (item->ways) output_put(output, arena_printf(arena, " (%lld ways)", (long long)item->ways));
    output_put(output, arena_printf(arena, "%s%s %s: %s (%s to %s)%s\n", is_markdown ? "\n\n" : "  ",
                                    item->saves_bytes < 0 ? "costs" : "saves",
                                    size_string(item->saves_bytes < 0 ? -item->saves_bytes : item->saves_bytes, arena),
                                    size_string(item->predicted_total_bytes, arena),
                                    size_string(item->low_bytes, arena), size_string(item->high_bytes, arena),
                                    item->changes_numerics ? "; changes the numerics" : ""));
    if (is_markdown) output_put(output, "\n");
    for (size_t i = 0; i < item->evidence_count; i++)
        output_put(output, arena_printf(arena, "%s%s\n", is_markdown ? "- " : "    ", item->evidence[i]));
    output_put(output, arena_printf(arena, "%s%s\n", is_markdown ? "- " : "    ", item->how));
}

static int most_saved_first(const void *left, const void *right) {
    const struct advice_item *const *a = left, *const *b = right;
    int64_t x = (*a)->saves_bytes, y = (*b)->saves_bytes;
    return x != y ? (x < y) - (x > y) : ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

static void write_others(const struct advice_item *const *items, size_t count, bool is_markdown, struct arena *arena,
                         struct output *output) {
    output_put(output, is_markdown ? "\n## Do not apply\n\n" : "\nDo not apply here:\n");
    for (size_t i = 0; i < count; i++) {
        if (items[i]->applies) continue;
        output_put(output, arena_printf(arena, "%s%s: %s\n", is_markdown ? "- " : "    ", advice_id_name(items[i]->id),
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
