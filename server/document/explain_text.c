#include "server/document/explain_text.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/size_text.h"
#include "server/text/printable.h"
#include "server/text/table.h"

enum { WIDTH = 100, SHOWN_MAX = 10 };

struct page {
    bool is_markdown;
    struct arena *arena;
    struct output *output;
};

// --- Lines ---

static void put(struct page *page, const char *text) {
    if (text) output_append(page->output, bytes_of(text));
}

static void put_words(struct page *page, const char *text) {
    const char *words = printable_text(bytes_of(text ? text : ""), page->arena);
    if (page->is_markdown)
        table_write_markdown_text(words, page->output);
    else
        put(page, words);
}

static void put_heading(struct page *page, int level, const char *text) {
    put(page, "\n");
    if (page->is_markdown) put(page, level == 1 ? "## " : "### ");
    put_words(page, text);
    put(page, page->is_markdown ? "\n\n" : "\n");
}

// Wrapped at WIDTH columns in text; later lines are indented by `indent`.
static void put_wrapped(struct page *page, const char *text, size_t indent) {
    static const char blanks[] = "        ";
    const char *words = printable_text(bytes_of(text), page->arena);
    size_t column = indent;
    if (page->is_markdown) {
        table_write_markdown_text(words, page->output);
        return;
    }
    while (*words) {
        size_t size = strcspn(words, " ");
        if (column > indent && column + 1 + size > WIDTH) {
            put(page, "\n");
            output_append(page->output, (struct bytes){(const uint8_t *)blanks, indent});
            column = indent;
        } else if (column > indent) {
            put(page, " ");
            column++;
        }
        output_append(page->output, (struct bytes){(const uint8_t *)words, size});
        column += size;
        words += size;
        words += strspn(words, " ");
    }
}

static void put_item(struct page *page, const char *text) {
    put(page, page->is_markdown ? "- " : "  - ");
    put_wrapped(page, text, 4);
    put(page, "\n");
}

// --- The parts ---

static void put_figure(struct page *page, const char *name, int64_t bytes) {
    char text[SIZE_TEXT_BYTES];
    if (bytes == OOM_ABSENT) return;
    const char *line = arena_printf(page->arena, "%s%-24s%s%s\n", page->is_markdown ? "- " : "  ", name,
                                    page->is_markdown ? ": " : "", size_text(bytes, text));
    put(page, line);
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

static void add_row(struct page *page, struct table *table, int64_t bytes, struct bytes shape, struct bytes name,
                    const char *source) {
    char size[SIZE_TEXT_BYTES];
    const char **cells = table_add_row(table);
    if (!cells) return;
    cells[0] = arena_string(page->arena, bytes_of(size_text(bytes, size)));
    cells[1] = words_of(page, shape);
    cells[2] = words_of(page, name);
    cells[3] = source ? words_of(page, bytes_of(source)) : "";
}

static struct bytes text_of(const char *text) {
    return text ? bytes_of(text) : (struct bytes){0};
}

static void put_largest(struct page *page, const struct explained *item) {
    static const struct table_column columns[] = {{"SIZE", TABLE_RIGHT, false, false},
                                                  {"SHAPE", TABLE_LEFT, true, false},
                                                  {"BUFFER", TABLE_LEFT, true, false},
                                                  {"SOURCE", TABLE_LEFT, true, false}};
    const struct oom_message *message = item->message;
    struct table table = table_make(columns, sizeof columns / sizeof columns[0], page->arena);
    for (size_t i = 0; i < message->entry_count && i < SHOWN_MAX; i++) {
        const struct oom_entry *entry = &message->entries[i];
        add_row(page, &table, entry->size_bytes, text_of(entry->shape), text_of(entry->label), entry->source);
    }
    for (size_t i = 0; item->join && !message->entry_count && i < item->join->evidence.largest_count && i < SHOWN_MAX;
         i++) {
        const struct oom_buffer *buffer = &item->join->evidence.largest[i];
        add_row(page, &table, buffer->size_bytes, buffer->words.shape, buffer->words.name, buffer->source);
    }
    if (!table.row_count) return;
    put_heading(page, 2, "The largest");
    if (page->is_markdown)
        table_write_markdown(&table, page->output);
    else
        table_write_text(&table, WIDTH, page->output);
}

static void put_code(struct page *page, const char *code) {
    if (page->is_markdown) {
        put(page, "\n  `"), put(page, code), put(page, "`\n");
        return;
    }
    put(page, "\n        "), put(page, code), put(page, "\n");
}

static const char *plan_text(struct page *page, const struct advice *advice) {
    const struct advice_plan *plan = &advice->plan;
    char capacity[SIZE_TEXT_BYTES], total[SIZE_TEXT_BYTES];
    size_text(advice->capacity_bytes, capacity);
    if (!plan->fits)
        return arena_printf(page->arena, "No set of changes that can be predicted from the program fits %s.", capacity);
    const char *names = "";
    for (size_t i = 0; names && i < plan->count; i++)
        names = arena_printf(page->arena, "%s%s%s", names, i ? " + " : "", advice_id_name(plan->ids[i]));
    return arena_printf(page->arena, "The smallest set of changes that fits %s: %s, for a total of about %s.", capacity,
                        names ? names : "", size_text(plan->predicted_total_bytes, total));
}

static void put_plan(struct page *page, const struct advice *advice) {
    if (!advice || advice->capacity_bytes <= 0 || !advice->plan.is_needed) return;
    const char *text = plan_text(page, advice);
    if (text) put_item(page, text);
}

static void put_fixes(struct page *page, const struct oom_diagnosis *diagnosis, const struct advice *advice) {
    char size[SIZE_TEXT_BYTES];
    put_heading(page, 2,
                advice ? "What to change, by what it is predicted to save" : "What to change, the likeliest first");
    put_plan(page, advice);
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        const struct oom_fix *fix = &diagnosis->fixes[i];
        const char *saves = fix->saves_bytes > 0 ? size_text(fix->saves_bytes, size) : NULL;
        const char *text = arena_printf(page->arena, "%s%s%s%s%s", fix->text, saves ? " Saves " : "",
                                        saves ? saves : "", saves ? "." : "",
                                        fix->changes_numerics ? " (changes the numerics)" : "");
        put(page, page->is_markdown ? "1. " : arena_printf(page->arena, "%3zu. ", i + 1));
        put_wrapped(page, text ? text : fix->text, 5);
        put_code(page, fix->how);
    }
}

void explain_text_write(const struct explanation *explanation, bool is_markdown, bool has_logdir, struct arena *arena,
                        struct output *output) {
    struct page page = {is_markdown, arena, output};
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
