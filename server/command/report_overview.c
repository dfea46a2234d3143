#include "server/command/report_overview.h"

#include <stdlib.h>

#include "analysis/base/text_writer.h"
#include "server/text/printable.h"
#include "analysis/base/size_text.h"

enum { HBM = 0 };

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

static struct report_overview_row look_at(struct report *report, const struct report_program *program) {
    struct report_overview_row row = {.program = program};
    struct report_module module;
    struct memory_summary_list spaces = {0};
    size_t errors = report->errors.count;
    if (report_module_load(report, program, &module)) report_module_summaries(report, &module, &spaces);
    const struct memory_summary *chosen = choose(&spaces);
    if (chosen)
        row = (struct report_overview_row){
            program, true, false, chosen->space, chosen->peak_bytes, chosen->total_bytes};
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

bool report_overview_read(struct report *report, const struct report_inventory *inventory, struct arena *arena,
                          struct report_overview *overview) {
    *overview = (struct report_overview){.inventory = inventory};
    overview->rows = arena_new(arena, struct report_overview_row, inventory->program_count);
    if (!overview->rows) return false;
    for (size_t i = 0; i < inventory->program_count; i++)
        overview->rows[overview->row_count++] = look_at(report, &inventory->programs[i]);
    if (overview->row_count) qsort(overview->rows, overview->row_count, sizeof overview->rows[0], by_session_peak);
    overview->biggest = find_biggest(overview);
    return true;
}

// --- Writing ---

enum { SESSION, HOST, MODULE, SPACE, PEAK, TOTAL, COLUMN_COUNT };

static const char *hosts_text(const struct report_program *program, struct arena *arena) {
    const char *first = printable_text(bytes_of(program->hosts[0]), arena);
    if (program->host_count == 1) return first;
    const char *text = arena_printf(arena, "%s +%zu", first, program->host_count - 1);
    return text ? text : first;
}

static void add_row(struct table *table, const struct report_overview_row *row, struct arena *arena) {
    char name[MEMORY_SPACE_NAME_BYTES];
    const char **cells = table_add_row(table);
    if (!cells) return;
    cells[SESSION] = row->program->session->name;
    cells[HOST] = hosts_text(row->program, arena);
    cells[MODULE] = row->program->name;
    cells[SPACE] = arena_string(arena, bytes_of(memory_space_name(row->space, name)));
    cells[PEAK] = size_string(row->peak_bytes, arena);
    cells[TOTAL] = size_string(row->total_bytes, arena);
}

static void write_table(const struct report_overview *overview, struct report_page *page) {
    const struct table_column columns[COLUMN_COUNT] = {
        [SESSION] = {.title = "Session",
                     .place = TABLE_LEFT,
                     .can_shrink = true,
                     .is_hidden = overview->inventory->session_count == 1},
        [HOST] = {.title = overview->inventory->has_named_hosts ? "Host" : "File",
                  .place = TABLE_LEFT,
                  .can_shrink = true,
                  .is_hidden = !overview->inventory->has_several_hosts},
        [MODULE] = {.title = "Module", .place = TABLE_LEFT, .can_shrink = true},
        [SPACE] = {.title = "Space", .place = TABLE_LEFT},
        [PEAK] = {.title = "Peak", .place = TABLE_RIGHT},
        [TOTAL] = {.title = "Total", .place = TABLE_RIGHT},
    };
    struct table table = table_make(columns, COLUMN_COUNT, page->arena);
    for (size_t i = 0; i < overview->row_count; i++) {
        if (overview->rows[i].has_space) add_row(&table, &overview->rows[i], page->arena);
    }
    if (table.row_count) report_page_table(page, &table);
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

static void write_names(struct name_list_writer *list, struct report_page *page) {
    if (list->text.size == 0) return;
    text_put(&list->text, ".");
    const char *text = text_writer_finish(&list->text);
    if (text) report_page_paragraph(page, text);
}

// A file with one program is called by its own name: dumps have many of one module.
static const char *name_of(const struct report_program *program, struct arena *arena) {
    bool is_hlo_file = program->file->kind == PROFILE_FILE_HLO;
    return is_hlo_file ? printable_text(bytes_of(program->file->name), arena) : program->name;
}

static const char *words_for_empty(const struct report_options *options, struct arena *arena) {
    char name[MEMORY_SPACE_NAME_BYTES];
    if (options->space == REPORT_ALL) return "No buffers are assigned in: ";
    const char *words = arena_printf(arena, "Nothing in %s: ", memory_space_name(options->space, name));
    return words ? words : "";
}

// The modules that are not in the table.
static void write_rest(const char *words, const struct report_overview *overview, bool has_failed,
                       struct report_page *page) {
    struct name_list_writer list = {{.arena = page->arena}, words};
    for (size_t i = 0; i < overview->row_count; i++) {
        const struct report_overview_row *row = &overview->rows[i];
        if (!row->has_space && row->has_failed == has_failed) add_name(&list, name_of(row->program, page->arena));
    }
    write_names(&list, page);
}

static void write_empty_sessions(const struct report_inventory *inventory, struct report_page *page) {
    struct name_list_writer list = {{.arena = page->arena}, "No compiled programs in: "};
    for (size_t i = 0; i < inventory->session_count; i++) {
        const struct report_session *session = &inventory->sessions[i];
        if (session->program_count == 0 && !session->has_errors) add_name(&list, session->name);
    }
    write_names(&list, page);
}

void report_overview_write(const struct report *report, const struct report_overview *overview,
                           struct report_page *page) {
    write_table(overview, page);
    write_rest(words_for_empty(&report->options, page->arena), overview, false, page);
    write_rest("Could not be read: ", overview, true, page);
    write_empty_sessions(overview->inventory, page);
}
