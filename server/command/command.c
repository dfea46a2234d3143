#include "server/command/command.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "server/text/printable.h"

enum { SAID_BYTES = 4096 };

const struct flag_choice format_choices[] = {{"text", FORMAT_TEXT},         {"json", FORMAT_JSON}, {"csv", FORMAT_CSV},
                                             {"markdown", FORMAT_MARKDOWN}, {"html", FORMAT_HTML}, {NULL, 0}};

const struct flag_choice format_choices_without_csv[] = {
    {"text", FORMAT_TEXT}, {"json", FORMAT_JSON}, {"markdown", FORMAT_MARKDOWN}, {NULL, 0}};

const struct flag_choice figure_choices[] = {{"peak", FIGURE_PEAK}, {"total", FIGURE_TOTAL}, {NULL, 0}};

void command_say(const char *format, ...) {
    char text[SAID_BYTES];
    struct arena scratch;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    arena_init(&scratch, 0);
    const char *line = printable_text(bytes_of(text), &scratch);
    fprintf(stderr, "hbmview: %s\n", line[0] ? line : "There is no memory left to say why.");
    arena_free(&scratch);
}

enum exit_code command_complain(enum exit_code code, const char *problem) {
    command_say("%s", problem);
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
    if (!is_written) command_say("The %s could not be written: %s.", what, problem);
    return is_written && !(errors && report_errors_any(errors)) ? EXIT_CODE_GOOD : EXIT_CODE_UNREADABLE;
}
