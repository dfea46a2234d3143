#include "server/document/explain_document.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/base/size_text.h"
#include "server/document/advice_document.h"
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

// "52.93 GiB of 15.75 GiB: OVERFLOW by 37.18 GiB".
static void put_verdict(struct page *page, const struct explained *item) {
    int64_t needed = explained_needed_bytes(item), over = explained_over_bytes(item);
    bool is_request = item->message->needed_bytes == OOM_ABSENT;
    const char *text = size_string(needed, page->arena);
    if (needed == OOM_ABSENT) return put_figure(page, "capacity", item->capacity_bytes);
    if (item->capacity_bytes == OOM_ABSENT)
        text = arena_printf(page->arena, "%s %s", text, is_request ? "asked for" : "needed");
    else if (over == OOM_ABSENT)
        text = arena_printf(page->arena, "%s of %s", text, size_string(item->capacity_bytes, page->arena));
    else
        text = arena_printf(page->arena, "%s of %s: OVERFLOW by %s", text,
                            size_string(item->capacity_bytes, page->arena), size_string(over, page->arena));
    put(page, page->is_markdown ? "**" : "  ");
    put(page, text);
    put(page, page->is_markdown ? "**\n" : "\n");
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
    put_verdict(page, item);
    if (message->needed_bytes != OOM_ABSENT) put_figure(page, "requested", message->requested_bytes);
    put_figure(page, "free", message->free_bytes);
    put_figure(page, "reservable", message->reservable_bytes);
    put_figure(page, "TensorCore", message->tensorcore_bytes);
    put_figure(page, "SparseCore", message->sparsecore_bytes);
}

// --- Who holds it ---

// "34 buffers, 11 of them 3.00 GiB each", "11 x 3.00 GiB".
static const char *alike_words(const struct oom_holder *holder, struct arena *arena) {
    const char *size = size_string(holder->alike_bytes, arena);
    if (holder->buffers == 1) return "1 buffer";
    if (holder->alike == holder->buffers) return arena_printf(arena, "%" PRId64 " x %s", holder->alike, size);
    if (holder->alike == 1) return arena_printf(arena, "%" PRId64 " buffers, largest %s", holder->buffers, size);
    return arena_printf(arena, "%" PRId64 " x %s and %" PRId64 " more", holder->alike, size,
                        holder->buffers - holder->alike);
}

static const char *holders_title(const struct oom_holders *holders) {
    if (holders->is_listed) return "Who holds it, of what the message lists";
    return holders->is_by_names ? "Who holds it at the peak, by operation" : "Who holds it at the peak, by line";
}

static void put_holders(struct page *page, const struct oom_holders *holders) {
    static const struct table_column columns[] = {{"SIZE", TABLE_RIGHT, false},
                                                  {"SHARE", TABLE_RIGHT, false},
                                                  {"HELD BY", TABLE_SHRINKING, false},
                                                  {"BUFFERS", TABLE_LEFT, false},
                                                  {"ABOUT", TABLE_SHRINKING, false}};
    struct table table = table_make(columns, sizeof columns / sizeof columns[0], page->arena);
    for (size_t i = 0; i < holders->count; i++) {
        const struct oom_holder *holder = &holders->rows[i];
        TABLE_ADD(&table, size_string(holder->size_bytes, page->arena),
                  arena_printf(page->arena, "%.1f%%", 100 * holder->share),
                  printable_text(bytes_of(holder->key), page->arena), alike_words(holder, page->arena),
                  holder->about ? printable_text(bytes_of(holder->about), page->arena) : "");
    }
    if (!table.row_count) return;
    put_heading(page, 2, holders_title(holders));
    page->has_begun = false;  // it stands right below its heading
    page_table(page, &table);
    if (holders->left_out)
        put_item(page, arena_printf(page->arena, "%zu more hold %s.", holders->left_out,
                                    size_string(holders->left_out_bytes, page->arena)));
}

static void put_loaded(struct page *page, const struct oom_loaded *loaded) {
    static const struct table_column columns[] = {{"KEEPS", TABLE_RIGHT, false},
                                                  {"CONSTANTS", TABLE_RIGHT, false},
                                                  {"TEMPORARIES", TABLE_RIGHT, false},
                                                  {"PROGRAM", TABLE_SHRINKING, false}};
    struct arena *arena = page->arena;
    struct table table = table_make(columns, sizeof columns / sizeof columns[0], arena);
    for (size_t i = 0; i < loaded->count && i < SHOWN_MAX; i++) {
        const struct oom_loaded_program *program = &loaded->programs[i];
        const char *name = printable_text(bytes_of(program->module), arena);
        TABLE_ADD(&table, size_string(program->size_bytes, arena), size_string(program->constant_bytes, arena),
                  size_string(program->temporary_bytes, arena),
                  program->is_failing ? arena_printf(arena, "%s, which found no room", name) : name);
    }
    if (!loaded->session) return;
    put_heading(page, 2,
                arena_printf(page->arena, "The programs of %s, which may be loaded together", loaded->session));
    page->has_begun = false;  // it stands right below its heading
    page_table(page, &table);
    if (loaded->count > SHOWN_MAX)
        put_item(page, arena_printf(arena, "%zu more keep less.", loaded->count - SHOWN_MAX));
    for (size_t i = 0; i < loaded->note_count; i++) put_item(page, loaded->notes[i]);
}

static void put_why(struct page *page, const struct oom_diagnosis *diagnosis) {
    put_heading(page, 2, "Why");
    if (diagnosis->scenario)
        put_item(page, arena_printf(page->arena, "Scenario %s. %s", diagnosis->scenario, diagnosis->scenario_reason));
    for (size_t i = 0; i < diagnosis->cause_count; i++) put_item(page, diagnosis->causes[i]);
}

// What was looked for and not found, and how far the search came.
static void put_search(struct page *page, const struct explained *item, const char *there) {
    const struct explain_search *search = &item->search;
    const char *takes = item->message->kind == OOM_PROGRAM_LOAD ? "brings constants and temporaries of" : "takes";
    const char *name = search->near_program ? printable_text(search->near_program->name, page->arena) : "";
    if (search->near_program)
        put_item(page, arena_printf(page->arena,
                                    "No program %s fits this message: the nearest, %s of %s, %s %s. Nothing is "
                                    "concluded from it.",
                                    there, name, search->near_session, takes,
                                    size_string(search->near_size_bytes, page->arena)));
    else
        put_item(page, arena_printf(page->arena, "No profile or dump %s holds this program in this size.", there));
    put_item(page, arena_printf(page->arena, "Searched %zu of %zu sessions%s.", search->sessions, search->session_count,
                                search->is_cut_short ? "; name the session with --session to look in it" : ""));
}

static void put_join(struct page *page, const struct explained *item, bool is_all_read) {
    const struct explain_join *join = item->join;
    if (!join && item->search.has_begun) put_search(page, item, is_all_read ? "there" : "that could be read there");
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
    bool is_profile = !message->entry_count && item->is_same_size;
    for (size_t i = 0; is_profile && i < item->join->evidence.largest_count && i < SHOWN_MAX; i++) {
        const struct oom_buffer *buffer = &item->join->evidence.largest[i];
        TABLE_ADD(&table, size_string(buffer->size_bytes, page->arena), words_of(page, buffer->words.shape),
                  words_of(page, buffer->words.name), buffer->source);
    }
    if (!table.row_count) return;
    put_heading(page, 2, "The largest");
    page->has_begun = false;  // it stands right below its heading
    page_table(page, &table);
}

// The message's own figures, in its words.
static void put_breakdown(struct page *page, const struct oom_message *message) {
    static const struct table_column columns[] = {{"SIZE", TABLE_RIGHT, false}, {"WHAT", TABLE_SHRINKING, false}};
    struct table table = table_make(columns, sizeof columns / sizeof columns[0], page->arena);
    for (size_t i = 0; i < message->row_count; i++) {
        const struct oom_row *row = &message->rows[i];
        bool is_count = strcmp(row->name, "NumAllocs") == 0;
        const char *value = is_count ? arena_printf(page->arena, "%" PRId64, row->value)
                                     : size_string(row->value, page->arena);
        TABLE_ADD(&table, value, printable_text(bytes_of(row->name), page->arena));
    }
    if (!table.row_count) return;
    put_heading(page, 2, "The message's own figures");
    page->has_begun = false;  // it stands right below its heading
    page_table(page, &table);
}

static void put_code(struct page *page, const char *code) {
    put(page, page->is_markdown ? "  `" : "        ");
    put(page, code);
    put(page, page->is_markdown ? "`\n" : "\n");
}

static void put_plan(struct page *page, const struct advice *advice) {
    const char *capacity = size_string(advice->capacity_bytes, page->arena);
    put_heading(page, 2, "The plan");
    if (!advice->plan.fits) {
        put_item(page, arena_printf(page->arena, "No set of changes that can be predicted from the program fits %s.",
                                    capacity));
        const char *nearest = advice_nearest_text(advice, page->arena), *ways = advice_ways_text(advice, page->arena);
        if (*nearest) put_item(page, nearest);
        if (*ways) put_item(page, ways);
        return;
    }
    put_item(page, advice_plan_text(&advice->plan, advice->capacity_bytes, page->arena));
    for (size_t i = 0; i < advice->plan.count; i++) put_code(page, advice_step_code(&advice->plan.steps[i]));
    for (size_t i = 0; i < advice->alternative_count; i++) {
        const struct advice_plan *other = &advice->alternatives[i];
        put_item(page, arena_printf(page->arena, "%s: %s", advice_kind_words(other->kind),
                                    advice_plan_text(other, advice->capacity_bytes, page->arena)));
    }
}

static bool is_planned(const struct advice *advice, const struct oom_fix *fix) {
    for (size_t i = 0; advice && i < advice->plan.count; i++) {
        if (fix->prediction == &advice->items[advice->plan.steps[i].id]) return true;
    }
    return false;
}

// "* shard parameters and batch over 4 chips".
static const char *fix_words(const struct oom_fix *fix, const struct advice *advice, struct arena *arena) {
    int64_t ways = fix->prediction->ways;
    return arena_printf(arena, "%s%s%s%s", is_planned(advice, fix) ? "* " : "", fix->change.name,
                        ways ? arena_printf(arena, " over %lld chips", (long long)ways) : "",
                        fix->change.changes_numerics ? " (changes numerics)" : "");
}

static const char *fit_words(const struct advice_item *item, int64_t capacity_bytes) {
    static const char *const words[] = {"", "fits", "may fit", "too big"};
    return words[advice_fit_of(item->low_bytes, item->high_bytes, capacity_bytes)];
}

static void put_predicted(struct page *page, const struct oom_diagnosis *diagnosis, const struct advice *advice) {
    static const struct table_column columns[] = {{"SAVES", TABLE_RIGHT, false}, {"TOTAL", TABLE_RIGHT, false},
                                                  {"LOW", TABLE_RIGHT, false},   {"HIGH", TABLE_RIGHT, false},
                                                  {"", TABLE_LEFT, false},       {"CHANGE", TABLE_SHRINKING, false}};
    struct arena *arena = page->arena;
    struct table table = table_make(columns, sizeof columns / sizeof columns[0], arena);
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        const struct oom_fix *fix = &diagnosis->fixes[i];
        const struct advice_item *item = fix->prediction;
        if (!item) continue;
        TABLE_ADD(&table, size_string(item->saves_bytes, arena), size_string(item->predicted_total_bytes, arena),
                  size_string(item->low_bytes, arena), size_string(item->high_bytes, arena),
                  fit_words(item, advice->capacity_bytes), fix_words(fix, advice, arena));
    }
    if (!table.row_count) return;
    put_heading(page, 2,
                advice->plan.count ? "Each change alone, as predicted (*: in the plan)"
                                   : "Each change alone, as predicted");
    page->has_begun = false;
    page_table(page, &table);
}

static void put_suggested(struct page *page, const struct oom_diagnosis *diagnosis, const struct advice *advice) {
    bool has_heading = false;
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        const struct oom_fix *fix = &diagnosis->fixes[i];
        if (fix->prediction) continue;
        if (!has_heading)
            put_heading(page, 2,
                        advice ? "What else there is, without a figure" : "What to change, the likeliest first");
        has_heading = true;
        put_item(page, arena_printf(page->arena, "%s%s. %s", fix->change.name,
                                    fix->change.changes_numerics ? " (changes numerics)" : "", fix->change.text));
        put_code(page, fix->change.how);
    }
}

static void put_message(struct page *page, const struct explained *item, bool is_all_read) {
    put_head(page, item);
    put_holders(page, &item->holders);
    put_loaded(page, &item->loaded);
    if (item->advice && item->advice->plan.is_needed) put_plan(page, item->advice);
    if (item->advice) put_predicted(page, &item->diagnosis, item->advice);
    put_suggested(page, &item->diagnosis, item->advice);
    put_why(page, &item->diagnosis);
    put_join(page, item, is_all_read);
    put_largest(page, item);
    put_breakdown(page, item->message);
}

static void put_unreadable(struct page *page, const struct explanation *explanation) {
    struct arena *arena = page->arena;
    size_t count = explanation->unreadable_count;
    if (count) put_heading(page, 1, "What could not be read, and so was not searched");
    for (size_t i = 0; i < count && i < SHOWN_MAX; i++) {
        const struct input_remark *remark = &explanation->unreadable[i];
        put_item(page, arena_printf(arena, "%s: %s", printable_text(bytes_of(remark->path), arena),
                                    printable_text(bytes_of(remark->reason), arena)));
    }
    if (count > SHOWN_MAX) put_item(page, arena_printf(arena, "%zu more files and folders.", count - SHOWN_MAX));
}

void explain_text_write(const struct explanation *explanation, bool is_markdown, struct arena *arena,
                        struct output *output) {
    struct page page = {
        .output = output, .arena = arena, .is_markdown = is_markdown, .keeps_words = true, .width = WIDTH};
    for (size_t i = 0; i < explanation->log.message_count; i++)
        put_message(&page, &explanation->items[i], explanation->unreadable_count == 0);
    if (explanation->log.left_out)
        put_item(&page, arena_printf(arena, "%zu more messages are not shown.", explanation->log.left_out));
    if (explanation->broken)
        put_item(&page, arena_printf(arena, "What follows in the log could not be read: %s.", explanation->broken));
    put_unreadable(&page, explanation);
}
