#include "server/document/advice_document.h"

#include <stdlib.h>

#include "analysis/base/device_kinds.h"
#include "analysis/base/size_text.h"
#include "server/document/waterfall_text.h"

// A text that there was no memory for is empty: callers look at its first character.
static const char *told(const char *text) {
    return text ? text : "";
}

const char *advice_nearest_text(const struct advice *advice, struct arena *arena) {
    const struct advice_plan *nearest = &advice->nearest;
    if (!nearest->count) return "";
    const char *list = advice_holding_text(advice, nearest->high_bytes, arena);
    int64_t over = nearest->predicted_total_bytes - advice->capacity_bytes;
    return told(arena_printf(arena, "Nearest: %s It is %s too much%s%s.",
                             advice_plan_text(nearest, advice->capacity_bytes, arena), size_string(over, arena),
                             *list ? "; one of these would hold it: " : "", list));
}

const char *advice_ways_text(const struct advice *advice, struct arena *arena) {
    if (!advice->least_ways) return "";
    return told(arena_printf(arena,
                             "Divided over chips, parameters and batch, it takes at least %lld of them, with %s each "
                             "(reasoned from the prediction for %lld, not compiled).",
                             (long long)advice->least_ways, size_string(advice->least_ways_bytes, arena),
                             (long long)advice->items[ADVICE_SHARD_ALL].ways));
}

// XLA leaves a quarter of a GPU alone unless it is told otherwise: a program that needs some of that does not run then.
static const char *gpu_part_text(const struct advice *advice, struct arena *arena) {
    int64_t by_itself = (int64_t)(DEVICE_GPU_PART * (double)advice->capacity_bytes);
    if (!advice->is_for_gpu || advice->plan.is_needed || advice->total_bytes <= by_itself) return "";
    return told(
        arena_printf(arena,
                     " if XLA may take all of it; of a GPU's memory it takes three quarters by itself, %s here: "
                     "XLA_PYTHON_CLIENT_MEM_FRACTION says how much",
                     size_string(by_itself, arena)));
}

static void write_head(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output) {
    const struct advice *advice = document->advice;
    output_put(output, arena_printf(arena,
                                    "%s%s\n\nNeeds %s of HBM, %s at its peak; the program's own code and what the "
                                    "runtime reserves are not counted.\n",
                                    is_markdown ? "# " : "", document->module, size_string(advice->total_bytes, arena),
                                    size_string(advice->peak_bytes, arena)));
    if (advice->told_batch)
        output_put(output, arena_printf(arena, "The batch is %lld.\n", (long long)advice->told_batch));
    if (advice->sequence)
        output_put(output, arena_printf(arena, "The sequence is %lld.\n", (long long)advice->sequence));
    if (advice->capacity_bytes > 0)
        output_put(output,
                   arena_printf(arena, "The capacity is %s: it %s%s.\n", size_string(advice->capacity_bytes, arena),
                                advice->plan.is_needed ? "does not fit" : "fits", gpu_part_text(advice, arena)));
    const char *holding = advice_holding_sentence(advice, arena);
    if (*holding) output_put(output, arena_printf(arena, "%s\n", holding));
}

const char *advice_total_text(int64_t total_bytes, int64_t low_bytes, int64_t high_bytes, int64_t capacity_bytes,
                              struct arena *arena) {
    static const char *const words[] = {"", ", fits ", ", may fit ", ", too big for "};
    enum advice_fit fit = advice_fit_of(low_bytes, high_bytes, capacity_bytes);
    return told(arena_printf(arena, "%s (%s to %s)%s%s", size_string(total_bytes, arena), size_string(low_bytes, arena),
                             size_string(high_bytes, arena), words[fit],
                             fit == ADVICE_FIT_UNKNOWN ? "" : size_string(capacity_bytes, arena)));
}

const char *advice_plan_text(const struct advice_plan *plan, int64_t capacity_bytes, struct arena *arena) {
    const char *names = "", *chips = "";
    for (size_t i = 0; names && i < plan->count; i++)
        names = arena_printf(arena, "%s%s%s", names,
                             !i                    ? ""
                             : i + 1 < plan->count ? ", "
                                                   : " and ",
                             advice_step_name(&plan->steps[i]));
    if (plan->ways) chips = told(arena_printf(arena, " over %lld chips", (long long)plan->ways));
    const char *kept = plan->kept_low_bytes
                           ? told(arena_printf(arena, "; at least %s where the source casts the parameters back",
                                               size_string(plan->kept_low_bytes, arena)))
                           : "";
    return told(arena_printf(
        arena, "%s%s: about %s%s.", told(names), chips,
        advice_total_text(plan->predicted_total_bytes, plan->low_bytes, plan->high_bytes, capacity_bytes, arena),
        kept));
}

const char *advice_kind_words(enum advice_kind kind) {
    static const char *const words[] = {[ADVICE_PLAN] = "The plan",
                                        [ADVICE_WITHOUT_SHARDING] = "Without sharding",
                                        [ADVICE_SAME_NUMERICS] = "With the same numerics",
                                        [ADVICE_SAME_SPEED] = "As fast as today",
                                        [ADVICE_FEWER_CHANGES] = "With fewer changes",
                                        [ADVICE_CHEAPER] = "Gentler, if it fits",
                                        [ADVICE_MORE_ROOM] = "With more room"};
    return words[kind];
}

static void write_plan(const struct advice *advice, bool is_markdown, struct arena *arena, struct output *output) {
    if (!advice->plan.is_needed) return;
    if (!advice->plan.fits) {
        const char *nearest = advice_nearest_text(advice, arena), *ways = advice_ways_text(advice, arena);
        output_put(output, "\nNo set of these changes fits it; a larger chip, or more of them (--ways), is needed.\n");
        output_put(output, arena_printf(arena, "%s%s%s%s", nearest, *nearest ? "\n" : "", ways, *ways ? "\n" : ""));
        if (advice->nearest.count) output_put(output, waterfall_text(advice, &advice->nearest, is_markdown, arena));
        return;
    }
    output_put(output,
               arena_printf(arena, "\nThe plan: %s\n", advice_plan_text(&advice->plan, advice->capacity_bytes, arena)));
    output_put(output, waterfall_text(advice, &advice->plan, is_markdown, arena));
    for (size_t i = 0; i < advice->alternative_count; i++) {
        const struct advice_plan *other = &advice->alternatives[i];
        const char *text = advice_plan_text(other, advice->capacity_bytes, arena);
        output_put(output,
                   arena_printf(arena, "%s%s: %s\n", is_markdown ? "\n" : "", advice_kind_words(other->kind), text));
    }
}

// Those that often go together; with a plan there is no need to tell them.
static void write_chains(const struct advice *advice, bool is_markdown, struct arena *arena, struct output *output) {
    if (advice->plan.is_needed || !advice->chain_count) return;
    output_put(output, is_markdown ? "\n## Together\n\n" : "\nTogether:\n");
    for (size_t i = 0; i < advice->chain_count; i++)
        output_put(output, arena_printf(arena, "%s%s\n", is_markdown ? "- " : "    ",
                                        advice_plan_text(&advice->chains[i], advice->capacity_bytes, arena)));
}

static void write_item(const struct advice_item *item, int64_t capacity_bytes, bool is_markdown, struct arena *arena,
                       struct output *output) {
    output_put(output, arena_printf(arena, "\n%s%s", is_markdown ? "## " : "", advice_name(item)));
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
    if (item->code) output_put(output, arena_printf(arena, is_markdown ? "- `%s`\n" : "        %s\n", item->code));
}

static int most_saved_first(const void *left, const void *right) {
    const struct advice_item *const *a = left, *const *b = right;
    int64_t x = (*a)->saves_bytes, y = (*b)->saves_bytes;
    return x != y ? (x < y) - (x > y) : ((*a)->id > (*b)->id) - ((*a)->id < (*b)->id);
}

static void write_others(const struct advice_item *const *items, size_t count, bool is_untold, bool is_markdown,
                         struct arena *arena, struct output *output) {
    const char *title = is_untold ? "Cannot be told" : is_markdown ? "Do not apply" : "Do not apply here";
    bool has_title = false;
    for (size_t i = 0; i < count; i++) {
        if (items[i]->applies || items[i]->cannot_tell != is_untold) continue;
        if (!has_title) output_put(output, arena_printf(arena, is_markdown ? "\n## %s\n\n" : "\n%s:\n", title));
        has_title = true;
        output_put(output, arena_printf(arena, "%s%s: %s\n", is_markdown ? "- " : "    ", advice_name(items[i]),
                                        items[i]->evidence_count ? items[i]->evidence[0] : ""));
    }
}

void advice_text_write(const struct advice_document *document, bool is_markdown, struct arena *arena,
                       struct output *output) {
    const struct advice_item *items[ADVICE_ID_COUNT];
    for (int id = 0; id < ADVICE_ID_COUNT; id++) items[id] = &document->advice->items[id];
    qsort(items, ADVICE_ID_COUNT, sizeof items[0], most_saved_first);
    write_head(document, is_markdown, arena, output);
    write_plan(document->advice, is_markdown, arena, output);
    write_chains(document->advice, is_markdown, arena, output);
    for (int i = 0; i < ADVICE_ID_COUNT; i++) {
        if (items[i]->applies) write_item(items[i], document->advice->capacity_bytes, is_markdown, arena, output);
    }
    write_others(items, ADVICE_ID_COUNT, true, is_markdown, arena, output);
    write_others(items, ADVICE_ID_COUNT, false, is_markdown, arena, output);
}
