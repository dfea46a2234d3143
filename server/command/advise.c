#include <unistd.h>

#include "server/document/advice_text.h"
#include "server/command/advise_options.h"
#include "server/command/report_data.h"

static const size_t NAMES_LIMIT_BYTES = (size_t)1 << 30;

// --- Which program ---

static bool hbm_total(struct report *report, const struct report_program *program, int64_t *total_bytes) {
    struct report_module module;
    struct memory_totals_list spaces = {0};
    struct error error;
    bool good = report_module_load(report, program, &module) &&
                memory_totals_list(&module.module, &module.arena, &spaces, &error);
    *total_bytes = good ? memory_totals_of(&spaces, 0).total_bytes : -1;
    report_module_free(&module);
    return good;
}

// The program with the largest total in HBM; of one that is alone, nothing is loaded. NULL: none can be read.
static const struct report_program *largest_program(struct report *report) {
    const struct report_inventory *inventory = &report->inventory;
    const struct report_program *largest = NULL;
    int64_t largest_bytes = -1, bytes;
    if (inventory->program_count == 1) return &inventory->programs[0];
    for (size_t i = 0; i < inventory->program_count; i++) {
        if (!hbm_total(report, &inventory->programs[i], &bytes) || bytes <= largest_bytes) continue;
        largest = &inventory->programs[i];
        largest_bytes = bytes;
    }
    return largest;
}

// --- Its advice ---

static void write_document(const struct advise_options *options, const struct advice_document *document,
                           struct arena *arena, struct output *output) {
    struct json_writer w = json_writer_on(output);
    if (options->format != FORMAT_JSON) {
        advice_text_write(document, options->format == FORMAT_MARKDOWN, arena, output);
        return;
    }
    advice_json_write(document, &w);
    output_append_char(output, '\n');
}

static bool advise_on(struct report *report, const struct advise_options *options,
                      const struct report_program *program) {
    struct report_module module;
    struct advice *advice;
    struct error error;
    bool good = report_module_load(report, program, &module);
    if (good) {
        advice = arena_new(&module.arena, struct advice, 1);
        good = advice ? advice_make(&module.module, &options->request, &module.arena, advice, &error)
                      : error_set(&error, ERROR_TOO_BIG, "There is not enough memory for advice.");
        if (good) {
            struct advice_document document = {advice, program->session->name, program->hosts[0], program->name};
            write_document(options, &document, &module.arena, &report->sink.output);
        } else {
            error_in_file(&error, program->file->path, (int64_t)program->program->offset);
            report_errors_add(&report->errors, &error);
        }
    }
    report_module_free(&module);
    return good;
}

static enum exit_code run(const struct advise_options *options) {
    struct arena arena;
    struct report report = {.errors = {.arena = &arena}};
    report.options = (struct report_options){.path = options->path,
                                             .session = options->session,
                                             .module = options->module,
                                             .space = REPORT_ALL,
                                             .top = REPORT_ALL,
                                             .fail_over_bytes = REPORT_ALL};
    arena_init(&arena, NAMES_LIMIT_BYTES);
    report_sink_init(&report.sink, STDOUT_FILENO);
    struct report_sessions sessions;
    if (report_sessions_find(&report.options, &arena, &sessions, &report.errors))
        report_inventory_read(&report.options, &sessions, &report.source, &arena, &report.inventory, &report.errors);
    const struct report_program *program = largest_program(&report);
    bool has_advice = program && advise_on(&report, options, program);
    if (!program && !report_errors_any(&report.errors))
        command_complain(EXIT_CODE_UNREADABLE, "There is no compiled program in that PATH.");
    enum exit_code code = command_ends(&report.sink, &report.errors, "advice");
    if (!has_advice) code = EXIT_CODE_UNREADABLE;
    report_source_close(&report.source);
    report_sink_free(&report.sink);
    arena_free(&arena);
    return code;
}

enum exit_code advise_run(int count, char *const arguments[]) {
    struct advise_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = advise_options_parse(count, arguments, &options, problem);
    const char *help = is_good && options.show_help ? advise_options_help() : NULL;
    return command_begins(is_good ? NULL : problem, help, &code) ? run(&options) : code;
}
