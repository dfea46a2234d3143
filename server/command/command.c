#include "server/command/command.h"

#include <signal.h>
#include <stdio.h>

const struct flag_choice format_choices[] = {{"text", FORMAT_TEXT},         {"json", FORMAT_JSON}, {"csv", FORMAT_CSV},
                                             {"markdown", FORMAT_MARKDOWN}, {"html", FORMAT_HTML}, {NULL, 0}};

const struct flag_choice format_choices_without_csv[] = {
    {"text", FORMAT_TEXT}, {"json", FORMAT_JSON}, {"markdown", FORMAT_MARKDOWN}, {NULL, 0}};

const struct flag_choice figure_choices[] = {{"peak", FIGURE_PEAK}, {"total", FIGURE_TOTAL}, {NULL, 0}};

enum exit_code command_complain(enum exit_code code, const char *problem) {
    fprintf(stderr, "hbmview: %s\n", problem);
    return code;
}

bool command_begins(const char *problem, const char *help, enum exit_code *code) {
    *code = problem && problem[0] ? command_complain(EXIT_CODE_USAGE, problem) : EXIT_CODE_GOOD;
    if (!problem && help) fputs(help, stdout);
    signal(SIGPIPE, SIG_IGN);
    return !problem && !help;
}

enum exit_code command_ends(struct report_sink *sink, const struct report_errors *errors, const char *what) {
    const char *problem;
    bool is_written = report_sink_finish(sink, &problem);
    if (errors) report_errors_print(errors);
    if (!is_written) fprintf(stderr, "hbmview: The %s could not be written: %s.\n", what, problem);
    return is_written && !(errors && report_errors_any(errors)) ? EXIT_CODE_GOOD : EXIT_CODE_UNREADABLE;
}
