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

const char *advice_total_text(int64_t total_bytes, int64_t low_bytes, int64_t high_bytes, int64_t capacity_bytes,
                              struct arena *arena) {
    static const char *const words[] = {"", ", fits ", ", may fit ", ", too big for "};
    enum advice_fit fit = advice_fit_of(low_bytes, high_bytes, capacity_bytes);
    return arena_printf(arena, "%s (%s to %s)%s%s", size_string(total_bytes, arena), size_string(low_bytes, arena),
                        size_string(high_bytes, arena), words[fit],
                        fit == ADVICE_FIT_UNKNOWN ? "" : size_string(capacity_bytes, arena));
}

const char *advice_plan_text(const struct advice_plan *plan, int64_t capacity_bytes, struct arena *arena) {
    const char *names = "", *chips = "";
    for (size_t i = 0; names && i < plan->count; i++)
        names = arena_printf(arena, "%s%s%s", names,
                             !i                    ? ""
                             : i + 1 < plan->count ? ", "
                                                   : " and ",
                             advice_change(plan->ids[i])->name);
    if (plan->ways) chips = arena_printf(arena, " over %lld chips", (long long)plan->ways);
    return arena_printf(
        arena, "%s%s: about %s.", names, chips,
        advice_total_text(plan->predicted_total_bytes, plan->low_bytes, plan->high_bytes, capacity_bytes, arena));
}

static void write_plan(const struct advice *advice, struct arena *arena, struct output *output) {
    if (!advice->plan.is_needed) return;
    if (!advice->plan.fits) {
        output_put(output, "\nNo set of these changes fits it; a larger chip, or more of them (--ways), is needed.\n");
        return;
    }
    output_put(output,
               arena_printf(arena, "\nThe plan: %s\n", advice_plan_text(&advice->plan, advice->capacity_bytes, arena)));
    if (advice->without_sharding.count)
        output_put(output, arena_printf(arena, "Without sharding: %s\n",
                                        advice_plan_text(&advice->without_sharding, advice->capacity_bytes, arena)));
}

static void write_item(const struct advice_item *item, int64_t capacity_bytes, bool is_markdown, struct arena *arena,
                       struct output *output) {
    output_put(output, arena_printf(arena, "\n%s%s", is_markdown ? "## " : "", advice_change(item->id)->name));
    if (item->ways) output_put(output, arena_printf(arena, " over %lld chips", (long long)item->ways));
    output_put(output, arena_printf(arena, "%s%s %s: %s%s\n", is_markdown ? "\n\n" : "  ",
                                    item->saves_bytes < 0 ? "costs" : "saves",
                                    size_string(item->saves_bytes < 0 ? -item->saves_bytes : item->saves_bytes, arena),
                                    advice_total_text(item->predicted_total_bytes, item->low_bytes, item->high_bytes,
                                                      capacity_bytes, arena),
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
        output_put(output,
                   arena_printf(arena, "%s%s: %s\n", is_markdown ? "- " : "    ", advice_change(items[i]->id)->name,
                                items[i]->evidence_count ? items[i]->evidence[0] : ""));
    }
}

void advice_text_write(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output) {
    const struct advice_item *items[ADVICE_ID_COUNT];
    for (int id = 0; id < ADVICE_ID_COUNT; id++) items[id] = &document->advice->items[id];
    qsort(items, ADVICE_ID_COUNT, sizeof items[0], most_saved_first);
    write_head(document, is_markdown, arena, output);
    write_plan(document->advice, arena, output);
    for (int i = 0; i < ADVICE_ID_COUNT; i++) {
        if (items[i]->applies) write_item(items[i], document->advice->capacity_bytes, is_markdown, arena, output);
    }
    write_others(items, ADVICE_ID_COUNT, is_markdown, arena, output);
}
