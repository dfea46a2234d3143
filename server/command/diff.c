#include <stdio.h>

#include "analysis/base/size_text.h"
#include "server/command/diff_sides.h"

struct comparison {
    const struct diff_options *options;
    struct diff_side a, b;
    struct diff_pairs programs;
    struct diff_others others;  // of them
    int64_t space;
    struct memory_view view_a, view_b;
    struct memory_diff diff;
};

// --- Making it ---

// The memory space: as asked, else that of A's row, which is HBM or its fullest one; B's where A has none.
static int64_t choose_space(const struct comparison *c) {
    if (c->options->space != REPORT_ALL) return c->options->space;
    return c->a.row.has_space ? c->a.row.space : c->b.row.has_space ? c->b.row.space : 0;
}

static bool build_view(struct diff_side *side, int64_t space, struct memory_view *view) {
    struct error error;
    return memory_view_build(&side->module.module, space, MEMORY_VIEW_EXACT, &side->module.arena, view, &error) ||
           report_errors_add_in(&side->report.errors, &error, side->row.program->file->path,
                                side->row.program->program->offset);
}

static bool compare(struct comparison *c) {
    struct compared_side a = {&c->view_a, &c->a.sources}, b = {&c->view_b, &c->b.sources};
    struct error error;
    return memory_diff_make(&a, &b, (enum memory_group_by)c->options->by, &c->a.module.arena, &c->diff, &error) ||
           report_errors_add_in(&c->a.report.errors, &error, c->a.row.program->file->path,
                                c->a.row.program->program->offset);
}

static bool make(struct comparison *c) {
    if (!diff_side_load(&c->a) || !diff_side_load(&c->b)) return false;
    c->space = choose_space(c);
    return build_view(&c->a, c->space, &c->view_a) && build_view(&c->b, c->space, &c->view_b) && compare(c) &&
           diff_programs_tell(&c->programs, &c->a.report, &c->b.report, c->space, &c->others);
}

// --- Telling it ---

static struct diff_program program_of(const struct diff_side *side) {
    const struct report_program *program = side->row.program;
    return (struct diff_program){program->session->name, program->hosts[0], program->program->name};
}

static void write_document(struct comparison *c, const struct diff_document *document) {
    struct report *report = &c->a.report;
    struct arena *arena = &c->a.module.arena;
    struct page page = report_page_on(report, &report->sink.output, arena);
    struct json_writer w = json_writer_on(&report->sink.output);
    if (c->options->format != FORMAT_JSON) {
        diff_text_write(document, &page);
        return;
    }
    json_open_object(&w);
    diff_json_write(document, arena, &w);
    json_close_object(&w);
    output_append_char(&report->sink.output, '\n');
}

static void tell_over(const struct diff_document *document) {
    char grown[SIZE_TEXT_BYTES], limit[SIZE_TEXT_BYTES];
    int64_t delta = diff_document_delta(document);
    fprintf(stderr, "hbmview: the %s grew by %s (%lld bytes), more than %s (%lld).\n",
            document->limits_total ? "total" : "peak", size_text(delta, grown), (long long)delta,
            size_text(document->limit_bytes, limit), (long long)document->limit_bytes);
}

static enum exit_code tell(struct comparison *c) {
    const struct diff_document document = {.diff = &c->diff,
                                           .a = program_of(&c->a),
                                           .b = program_of(&c->b),
                                           .others = &c->others,
                                           .space = c->space,
                                           .top = c->options->top,
                                           .limits_total = c->options->of == FIGURE_TOTAL,
                                           .limit_bytes = c->options->limit_bytes};
    write_document(c, &document);
    progress_hide(c->a.report.options.progress);
    if (!diff_document_is_over(&document)) return EXIT_CODE_GOOD;
    tell_over(&document);
    return EXIT_CODE_CHECK_FAILED;
}

// --- The command ---

static enum exit_code compare_sides(struct comparison *c) {
    enum exit_code code;
    if (!diff_side_read(&c->a, &code) || !diff_side_read(&c->b, &code) ||
        !diff_sides_choose(&c->a, &c->b, &c->programs, &code))
        return code;
    code = make(c) ? tell(c) : EXIT_CODE_UNREADABLE;
    report_module_free(&c->b.module);
    report_module_free(&c->a.module);
    return code;
}

static enum exit_code run_followed(const struct diff_options *options, struct progress *progress) {
    struct comparison c = {.options = options};
    bool has_begun_a = diff_side_begin(options, &options->a, progress, &c.a);
    bool has_begun_b = diff_side_begin(options, &options->b, progress, &c.b);
    enum exit_code code = has_begun_a && has_begun_b ? compare_sides(&c) : EXIT_CODE_UNREADABLE;
    progress_end(progress);
    enum exit_code of_a = report_end(&c.a.report, "comparison"), of_b = report_end(&c.b.report, "comparison");
    bool is_whole = of_a == EXIT_CODE_GOOD && of_b == EXIT_CODE_GOOD;
    return is_whole || code == EXIT_CODE_USAGE ? code : EXIT_CODE_UNREADABLE;
}

static enum exit_code run(const struct diff_options *options) {
    struct progress progress;
    progress_begin(&progress);
    enum exit_code code = run_followed(options, &progress);
    progress_end(&progress);
    return code;
}

enum exit_code diff_run(int count, char *const arguments[]) {
    struct diff_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = diff_options_parse(count, arguments, &options, problem);
    const char *told = is_good && options.show_help ? diff_options_help() : NULL;
    return command_begins(is_good ? NULL : problem, told, &code) ? run(&options) : code;
}
