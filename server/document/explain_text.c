#include "server/document/explain_document.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/size_text.h"
#include "server/text/page.h"
#include "server/text/printable.h"

enum { WIDTH = 100, SHOWN_MAX = 10 };

// --- Lines ---

static void put(struct page *page, const char *text) {
    output_put(page->output, text);
}

static void put_heading(struct page *page, int level, const char *text) {
    const char *words = printable_text(bytes_of(text ? text : ""), page->arena);
    put(page, page->is_markdown ? level == 1 ? "\n## " : "\n### " : "\n");
    if (page->is_markdown)
        table_write_markdown_text(words, page->output);
    else
        put(page, words);
    put(page, page->is_markdown ? "\n\n" : "\n");
}

static void put_item(struct page *page, const char *text) {
    put(page, page->is_markdown ? "- " : "  - ");
    page_line(page, text ? text : "", 4);
}

// --- The parts ---

static void put_figure(struct page *page, const char *name, int64_t bytes) {
    if (bytes == OOM_ABSENT) return;
    put(page, arena_printf(page->arena, "%s%-24s%s%s\n", page->is_markdown ? "- " : "  ", name,
                           page->is_markdown ? ": " : "", size_string(bytes, page->arena)));
}

static void put_head(struct page *page, const struct explained *item) {
    const struct oom_message *message = item->message;
    const char *title = arena_printf(
        page->arena, "%s%s%s%s%s%s (line %" PRIu32 "%s%" PRId64 "%s)", message->error_code ? message->error_code : "",
        message->error_code ? " " : "", oom_kind_name(message->kind), message->module ? ": " : "",
        message->module ? message->module : "",
        message->memory_space && strcmp(message->memory_space, "hbm") != 0
            ? arena_printf(page->arena, " in %s", message->memory_space)
            : "",
        message->line, message->count > 1 ? ", " : "; ", message->count, message->count > 1 ? " times" : " time");
    put_heading(page, 1, title);
    put_figure(page, "needed", message->needed_bytes);
    put_figure(page, "requested", message->requested_bytes);
    put_figure(page, "capacity", message->capacity_bytes);
    put_figure(page, "exceeded by", message->exceeded_bytes);
    put_figure(page, "free", message->free_bytes);
    put_figure(page, "reservable", message->reservable_bytes);
    put_figure(page, "TensorCore", message->tensorcore_bytes);
    put_figure(page, "SparseCore", message->sparsecore_bytes);
}

static void put_why(struct page *page, const struct oom_diagnosis *diagnosis) {
    put_heading(page, 2, "Why");
    if (diagnosis->scenario)
        put_item(page, arena_printf(page->arena, "Scenario %s. %s", diagnosis->scenario, diagnosis->scenario_reason));
    for (size_t i = 0; i < diagnosis->cause_count; i++) put_item(page, diagnosis->causes[i]);
}

static void put_join(struct page *page, const struct explained *item, bool has_logdir) {
    const struct explain_join *join = item->join;
    if (!join && has_logdir && item->message->module)
        put_item(page, "No profile or dump there holds this program in this size.");
    if (!join) return;
    put_heading(page, 2, arena_printf(page->arena, "In the profile: %s / %s", join->session, join->module));
    put_figure(page, "arguments", join->evidence.argument_bytes);
    put_figure(page, "outputs", join->evidence.totals.bytes[ALLOCATION_OUTPUT]);
    put_figure(page, "temporaries", join->evidence.totals.bytes[ALLOCATION_TEMPORARY]);
    put_figure(page, "total", join->evidence.totals.total_bytes);
    for (size_t i = 0; i < item->diagnosis.disagreement_count; i++) put_item(page, item->diagnosis.disagreements[i]);
}

static const char *words_of(struct page *page, struct bytes text) {
    return printable_text(text, page->arena);
}

static void put_largest(struct page *page, const struct explained *item) {
    static const struct table_column columns[] = {{"SIZE", TABLE_RIGHT, false},
                                                  {"SHAPE", TABLE_SHRINKING, false},
                                                  {"BUFFER", TABLE_SHRINKING, false},
                                                  {"SOURCE", TABLE_SHRINKING, false}};
    const struct oom_message *message = item->message;
    struct table table = table_make(columns, sizeof columns / sizeof columns[0], page->arena);
    for (size_t i = 0; i < message->entry_count && i < SHOWN_MAX; i++) {
        const struct oom_entry *entry = &message->entries[i];
        TABLE_ADD(&table, size_string(entry->size_bytes, page->arena), entry->shape, entry->label, entry->source);
    }
    for (size_t i = 0; item->join && !message->entry_count && i < item->join->evidence.largest_count && i < SHOWN_MAX;
         i++) {
        const struct oom_buffer *buffer = &item->join->evidence.largest[i];
        TABLE_ADD(&table, size_string(buffer->size_bytes, page->arena), words_of(page, buffer->words.shape),
                  words_of(page, buffer->words.name), buffer->source);
    }
    if (!table.row_count) return;
    put_heading(page, 2, "The largest");
    page->has_begun = false;  // it stands right below its heading
    page_table(page, &table);
}

static void put_code(struct page *page, const char *code) {
    put(page, page->is_markdown ? "  `" : "        ");
    put(page, code);
    put(page, page->is_markdown ? "`\n" : "\n");
}

static const char *plan_text(struct page *page, const struct advice *advice) {
    const struct advice_plan *plan = &advice->plan;
    const char *capacity = size_string(advice->capacity_bytes, page->arena), *names = "";
    if (!plan->fits)
        return arena_printf(page->arena, "No set of changes that can be predicted from the program fits %s.", capacity);
    for (size_t i = 0; names && i < plan->count; i++)
        names = arena_printf(page->arena, "%s%s%s", names, i ? " + " : "", advice_id_name(plan->ids[i]));
    return arena_printf(page->arena, "The smallest set of changes that fits %s: %s, for a total of about %s.", capacity,
                        names ? names : "", size_string(plan->predicted_total_bytes, page->arena));
}

static void put_plan(struct page *page, const struct advice *advice) {
    if (!advice || advice->capacity_bytes <= 0 || !advice->plan.is_needed) return;
    put_item(page, plan_text(page, advice));
}

static void put_fixes(struct page *page, const struct oom_diagnosis *diagnosis, const struct advice *advice) {
    put_heading(page, 2,
                advice ? "What to change, by what it is predicted to save" : "What to change, the likeliest first");
    put_plan(page, advice);
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        const struct oom_fix *fix = &diagnosis->fixes[i];
        const char *saves = fix->saves_bytes > 0 ? size_string(fix->saves_bytes, page->arena) : NULL;
        const char *text = arena_printf(page->arena, "%s%s%s%s%s", fix->text, saves ? " Saves " : "",
                                        saves ? saves : "", saves ? "." : "",
                                        fix->changes_numerics ? " (changes the numerics)" : "");
        put(page, page->is_markdown ? "1. " : arena_printf(page->arena, "%3zu. ", i + 1));
        page_line(page, text ? text : fix->text, 5);
        put_code(page, fix->how);
    }
}

void explain_text_write(const struct explanation *explanation, bool is_markdown, bool has_logdir, struct arena *arena,
                        struct output *output) {
    struct page page = {
        .output = output, .arena = arena, .is_markdown = is_markdown, .keeps_words = true, .width = WIDTH};
    for (size_t i = 0; i < explanation->log.message_count; i++) {
        const struct explained *item = &explanation->items[i];
        put_head(&page, item);
        put_why(&page, &item->diagnosis);
        put_join(&page, item, has_logdir);
        put_largest(&page, item);
        put_fixes(&page, &item->diagnosis, item->advice);
    }
    if (explanation->log.left_out)
        put_item(&page, arena_printf(arena, "%zu more messages are not shown.", explanation->log.left_out));
}
