#include <unistd.h>

#include "server/command/report_formats.h"
#include "server/command/report_device_memory.h"

static const size_t NAMES_LIMIT_BYTES = (size_t)1 << 30;

static void write_report(struct report *report) {
    if (report->options.format == FORMAT_JSON)
        report_json_write(report);
    else if (report->options.format == FORMAT_CSV)
        report_csv_write(report);
    else
        report_text_write(report);
}

static void write_modules(struct report *report, struct arena *arena) {
    const struct report_options *options = &report->options;
    struct report_device_memory device_memory = {.options = options, .errors = &report->errors};
    struct report_sessions sessions;
    bool is_found = report_sessions_find(options, arena, &sessions, &report->errors);
    if (is_found) report_device_memory_find(&sessions.catalog, arena, &device_memory);
    report->device_memory = &device_memory;
    if (is_found && !device_memory.is_all)
        report_inventory_read(options, &sessions, &report->source, arena, &report->inventory, &report->errors);
    if (!device_memory.is_all) write_report(report);
    report_device_memory_write(&device_memory, &report->sink);
    report->device_memory = NULL;
}

static enum exit_code run(const struct report_options *options) {
    struct arena arena;
    struct report report = {.options = *options, .errors = {.arena = &arena}};
    bool is_within = true;
    arena_init(&arena, NAMES_LIMIT_BYTES);
    report_sink_init(&report.sink, STDOUT_FILENO);
    if (options->tool == REPORT_MEMORY_PROFILE)
        is_within = report_profile_write(&report, &arena);
    else
        write_modules(&report, &arena);
    enum exit_code code = command_ends(&report.sink, &report.errors, "report");
    if (code == EXIT_CODE_GOOD && !is_within) code = EXIT_CODE_CHECK_FAILED;
    report_source_close(&report.source);
    report_sink_free(&report.sink);
    arena_free(&arena);
    return code;
}

enum exit_code report_run(int count, char *const arguments[]) {
    struct report_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    enum exit_code code;
    bool is_good = report_options_parse(count, arguments, &options, problem);
    const char *help = is_good && options.show_help ? report_options_help() : NULL;
    return command_begins(is_good ? NULL : problem, help, &code) ? run(&options) : code;
}
