#include "server/command/report_device_memory.h"
#include "server/command/report_formats.h"
#include "server/command/report_html.h"
#include "server/command/report_limit.h"
#include "server/command/report_session_list.h"
#include "server/command/report_trend.h"

// False: a program is above --fail-over, and stderr says which.
static bool write_modules(struct report *report) {
    struct report_inventory inventory = {0};
    struct report_device_memory device_memory = {.report = report};
    bool is_found = report_find_sessions(report);
    if (is_found) report_device_memory_find(&device_memory);
    if (is_found && !device_memory.is_all) report_inventory_read(report, &inventory);
    if (report->options.format == FORMAT_JSON) {
        report_json_write(report, &inventory, &device_memory);
    } else if (report->options.format == FORMAT_CSV) {
        if (device_memory.is_all)
            report_device_memory_write_csv(&device_memory);
        else
            report_csv_write(report, &inventory);
    } else {
        if (!device_memory.is_all) report_text_write(report, &inventory);
        report_device_memory_write_text(&device_memory);
    }
    return report_limit_check(report, &inventory);
}

// Memory over time. False: a peak is above --fail-over, and stderr says which.
static bool write_profiles(struct report *report) {
    struct report_profile profile;
    report_profile_open(report, &profile);
    if (report->options.format == FORMAT_JSON)
        report_profile_json_write(&profile);
    else if (report->options.format == FORMAT_CSV)
        report_profile_csv_write(&profile);
    else
        report_profile_text_write(&profile);
    return report_profile_tell_limit(&profile);
}

static enum exit_code run_followed(const struct report_options *options) {
    if (options->is_trend) return report_trend_run(options);
    if (options->format == FORMAT_HTML) return report_html_run(options);
    struct report report;
    bool is_within = true, has_begun = report_begin(options, &report);
    if (has_begun && options->is_session_list)
        report_session_list_write(&report);
    else if (has_begun && options->tool == REPORT_MEMORY_PROFILE)
        is_within = write_profiles(&report);
    else if (has_begun)
        is_within = write_modules(&report);
    progress_end(options->progress);
    enum exit_code code = report_end(&report, "report");
    if (!has_begun) return EXIT_CODE_UNREADABLE;
    return code == EXIT_CODE_GOOD && !is_within ? EXIT_CODE_CHECK_FAILED : code;
}

static enum exit_code run(const struct report_options *options) {
    struct progress progress;
    struct report_options followed = *options;
    followed.progress = &progress;
    progress_begin(&progress);
    enum exit_code code = run_followed(&followed);
    progress_end(&progress);
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
