#include "server/command/report_overview.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/base/text_writer.h"
#include "server/command/report_formats.h"
#include "analysis/base/size_text.h"

enum { HBM = 0 };

struct report_overview {
    const struct report_inventory *inventory;
    struct report_overview_row *rows;  // sessions in their order, the biggest module first
    size_t row_count;
    const struct report_overview_row *biggest;  // NULL: none has any buffers
};

// --- Reading ---

static const struct memory_summary *choose(const struct memory_summary_list *list) {
    const struct memory_summary *best = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct memory_summary *summary = &list->summaries[i];
        if (summary->space == HBM && summary->total_bytes > 0) return summary;
        if (!best || summary->peak_bytes > best->peak_bytes) best = summary;
    }
    return best;
}

struct report_overview_row report_overview_look(struct report *report, const struct report_program *program) {
    struct report_overview_row row = {.program = program};
    struct report_module module;
    struct memory_summary_list spaces = {0};
    size_t errors = report->errors.count;
    if (report_module_load(report, program, &module)) report_module_summaries(report, &module, &spaces);
    const struct memory_summary *chosen = choose(&spaces);
    if (chosen)
        row = (struct report_overview_row){program, true, false, chosen->space, chosen->peak_bytes, chosen->total_bytes,
                                           false,   NULL};
    row.has_failed = !chosen && report->errors.count > errors;
    report_module_free(&module);
    return row;
}

// Sessions keep their order; programs are in that of the inventory.
static int by_session_peak(const void *left, const void *right) {
    const struct report_overview_row *a = left, *b = right;
    if (a->program->session != b->program->session) return a->program->session < b->program->session ? -1 : 1;
    if (a->has_space != b->has_space) return a->has_space ? -1 : 1;
    if (a->peak_bytes != b->peak_bytes) return a->peak_bytes > b->peak_bytes ? -1 : 1;
    return (a->program > b->program) - (a->program < b->program);
}

static const struct report_overview_row *find_biggest(const struct report_overview *overview) {
    const struct report_overview_row *biggest = NULL;
    for (size_t i = 0; i < overview->row_count; i++) {
        const struct report_overview_row *row = &overview->rows[i];
        if (row->has_space && (!biggest || row->peak_bytes > biggest->peak_bytes)) biggest = row;
    }
    return biggest;
}

// Ties the rows of each family together, in their order. False without memory.
static bool tie_variants(struct report_overview *overview, struct arena *arena) {
    struct report_overview_row **last = NULL;  // by family, of one session
    const struct report_session *session = NULL;
    for (size_t i = 0; i < overview->row_count; i++) {
        struct report_overview_row *row = &overview->rows[i];
        if (row->program->session != session) {
            session = row->program->session;
            last = arena_new(arena, struct report_overview_row *, session->program_count + 1);
        }
        if (!last) return false;
        struct report_overview_row **before = &last[row->program->family];
        if (!row->has_space) continue;
        row->is_variant = *before != NULL;
        if (*before) (*before)->variant = row;
        *before = row;
    }
    return true;
}

// Looks into every program, one at a time. False without memory.
static bool read_overview(struct report *report, const struct report_inventory *inventory, struct arena *arena,
                          struct report_overview *overview) {
    *overview = (struct report_overview){.inventory = inventory};
    overview->rows = arena_new(arena, struct report_overview_row, inventory->program_count);
    if (!overview->rows) return false;
    for (size_t i = 0; i < inventory->program_count; i++) {
        progress_step(report->options.progress, "program", i + 1, inventory->program_count);
        overview->rows[overview->row_count++] = report_overview_look(report, &inventory->programs[i]);
    }
    if (overview->row_count) qsort(overview->rows, overview->row_count, sizeof overview->rows[0], by_session_peak);
    overview->biggest = find_biggest(overview);
    return tie_variants(overview, arena);
}

// --- Writing ---

static const char *hosts_text(const struct report_program *program, struct arena *arena) {
    if (program->host_count == 1) return program->hosts[0];
    return arena_printf(arena, "%s +%zu", program->hosts[0], program->host_count - 1);
}

static void write_table(const struct report_overview *overview, struct page *page) {
    const struct report_inventory *inventory = overview->inventory;
    const struct table_column columns[] = {
        {"Session", TABLE_SHRINKING, inventory->session_count == 1},
        {inventory->has_named_hosts ? "Host" : "File", TABLE_SHRINKING, !inventory->has_several_hosts},
        {"Module", TABLE_SHRINKING, false},
        {"Space", TABLE_LEFT, false},
        {"Peak", TABLE_RIGHT, false},
        {"Total", TABLE_RIGHT, false},
    };
    struct table table = table_make(columns, sizeof columns / sizeof *columns, page->arena);
    for (size_t i = 0; i < overview->row_count; i++) {
        char space[MEMORY_SPACE_NAME_BYTES];
        const struct report_overview_row *row = &overview->rows[i];
        if (!row->has_space || row->is_variant) continue;
        TABLE_ADD(&table, row->program->session->name, hosts_text(row->program, page->arena), row->program->name,
                  memory_space_name(row->space, space), size_string(row->peak_bytes, page->arena),
                  size_string(row->total_bytes, page->arena));
    }
    page_table(page, &table);
}

static void add_variant(struct text_writer *text, const struct report_overview_row *first,
                        const struct report_overview_row *row) {
    struct arena *arena = text->arena;
    const struct report_program *program = row->program;
    bool has_own_name = strcmp(program->name, first->program->name) != 0;
    const char *hosts = hosts_text(program, arena);
    const char *words = arena_printf(arena, "%s%zu host%s (%s%s%s) with %s at the peak", row == first ? ": " : ", ",
                                     program->host_count, program->host_count == 1 ? "" : "s", hosts ? hosts : "",
                                     has_own_name ? ", as " : "", has_own_name ? program->name : "",
                                     size_string(row->peak_bytes, arena));
    text_put(text, words ? words : "");
}

// "jit_f(1) is compiled in 2 variants: 1 host (host-017) with 13.7 GiB at the peak, 255 hosts (host-000 +254) with ..."
static const char *variants_text(const struct report_overview_row *first, struct arena *arena) {
    struct text_writer text = {.arena = arena};
    size_t count = 0;
    for (const struct report_overview_row *row = first; row; row = row->variant) count++;
    text_put(&text, first->program->name);
    text_put(&text, " is compiled in ");
    text_put_int64(&text, (int64_t)count);
    text_put(&text, " variants");
    for (const struct report_overview_row *row = first; row; row = row->variant) add_variant(&text, first, row);
    text_put(&text, ".");
    return text_writer_finish(&text);
}

static void write_variants(const struct report_overview *overview, struct page *page) {
    for (size_t i = 0; i < overview->row_count; i++) {
        const struct report_overview_row *row = &overview->rows[i];
        if (row->has_space && !row->is_variant && row->variant) page_paragraph(page, variants_text(row, page->arena));
    }
}

// "words: name, name, name."
struct name_list_writer {
    struct text_writer text;
    const char *words;
};

static void add_name(struct name_list_writer *list, const char *name) {
    text_put(&list->text, list->text.size ? ", " : list->words);
    text_put(&list->text, name);
}

static void write_names(struct name_list_writer *list, struct page *page) {
    if (list->text.size == 0) return;
    text_put(&list->text, ".");
    page_paragraph(page, text_writer_finish(&list->text));
}

// A file with one program is called by its own name: dumps have many of one module.
static const char *name_of(const struct report_program *program) {
    return program->file->kind == PROFILE_FILE_HLO ? program->file->name : program->name;
}

static const char *words_for_empty(const struct report_options *options, struct arena *arena) {
    char name[MEMORY_SPACE_NAME_BYTES];
    if (options->space == REPORT_ALL) return "No buffers are assigned in: ";
    const char *words = arena_printf(arena, "Nothing in %s: ", memory_space_name(options->space, name));
    return words ? words : "";
}

// The modules that are not in the table.
static void write_rest(const char *words, const struct report_overview *overview, bool has_failed, struct page *page) {
    struct name_list_writer list = {{.arena = page->arena}, words};
    for (size_t i = 0; i < overview->row_count; i++) {
        const struct report_overview_row *row = &overview->rows[i];
        if (!row->has_space && row->has_failed == has_failed) add_name(&list, name_of(row->program));
    }
    write_names(&list, page);
}

static void write_empty_sessions(const struct report_inventory *inventory, struct page *page) {
    struct name_list_writer list = {{.arena = page->arena}, "No compiled programs in: "};
    for (size_t i = 0; i < inventory->session_count; i++) {
        const struct report_session *session = &inventory->sessions[i];
        if (session->program_count == 0 && !session->has_errors) add_name(&list, session->name);
    }
    write_names(&list, page);
}

static void write_overview(const struct report *report, const struct report_overview *overview, struct page *page) {
    write_table(overview, page);
    write_variants(overview, page);
    write_rest(words_for_empty(&report->options, page->arena), overview, false, page);
    write_rest("Could not be read: ", overview, true, page);
    write_empty_sessions(overview->inventory, page);
}

void report_text_write(struct report *report, const struct report_inventory *inventory) {
    struct arena arena;
    arena_init(&arena, 0);
    struct page page = report_page_on(report, &report->sink.output, &arena);
    struct report_overview overview;
    if (read_overview(report, inventory, &arena, &overview)) {
        write_overview(report, &overview, &page);
        report_sink_drain(&report->sink);
        if (overview.biggest) report_details_write(report, overview.biggest, overview.row_count > 1, &page);
    } else {
        report_errors_say(&report->errors, ERROR_TOO_BIG, NULL, "There is not enough memory for the table of modules.");
    }
    arena_free(&arena);
}
