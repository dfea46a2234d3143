#include "server/command/report.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "server/command/report_csv.h"
#include "server/command/report_device_memory.h"
#include "server/command/report_json.h"
#include "server/command/report_profile.h"
#include "server/command/report_text.h"

static const size_t NAMES_LIMIT_BYTES = (size_t)1 << 30;

static enum exit_code complain(enum exit_code code, const char *problem) {
    fprintf(stderr, "hbmview: %s\n", problem);
    return code;
}

static void write_report(struct report *report) {
    if (report->options.format == FORMAT_JSON)
        report_json_write(report);
    else if (report->options.format == FORMAT_CSV)
        report_csv_write(report);
    else
        report_text_write(report);
}

static enum exit_code finish(struct report *report) {
    const char *problem;
    bool is_written = report_sink_finish(&report->sink, &problem);
    report_errors_print(&report->errors);
    if (!is_written) {
        fprintf(stderr, "hbmview: The report could not be written: %s.\n", problem);
        return EXIT_CODE_UNREADABLE;
    }
    return report_errors_any(&report->errors) ? EXIT_CODE_UNREADABLE : EXIT_CODE_GOOD;
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
    enum exit_code code = finish(&report);
    if (code == EXIT_CODE_GOOD && !is_within) code = EXIT_CODE_CHECK_FAILED;
    report_source_close(&report.source);
    report_sink_free(&report.sink);
    arena_free(&arena);
    return code;
}

enum exit_code report_run(int count, char *const arguments[]) {
    struct report_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    if (!report_options_parse(count, arguments, &options, problem)) return complain(EXIT_CODE_USAGE, problem);
    if (options.show_help) {
        fputs(report_options_help(), stdout);
        return EXIT_CODE_GOOD;
    }
    signal(SIGPIPE, SIG_IGN);
    return run(&options);
}
