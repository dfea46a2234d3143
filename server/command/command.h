// The commands that print, and what they have in common: the formats they write in, how they begin, complain and end.
#pragma once

#include "server/command/report_errors.h"
#include "server/command/report_sink.h"
#include "server/options.h"

// Each runs with its arguments, without the names of program and command; its --help says what it does.
enum exit_code advise_run(int count, char *const arguments[]);
enum exit_code diff_run(int count, char *const arguments[]);
enum exit_code explain_run(int count, char *const arguments[]);
enum exit_code get_memory_profile_run(int count, char *const arguments[]);
enum exit_code get_peak_allocations_run(int count, char *const arguments[]);
enum exit_code mcp_run(int count, char *const arguments[]);
enum exit_code report_run(int count, char *const arguments[]);
enum exit_code watch_run(int count, char *const arguments[]);

// What a command's cache keeps of what is not in use: where to go on in the .gz files that it read last, which is at
// most 2.7 MB of each (analysis/input/byte_source_points.h). A command reads the rest once.
enum { COMMAND_CACHE_BYTES = 6 << 20 };

// What a limit is about.
enum memory_figure { FIGURE_PEAK, FIGURE_TOTAL };

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN, FORMAT_HTML };

// For flags: all formats, those of commands whose answer is no table; figures.
extern const struct flag_choice format_choices[], format_choices_without_csv[], figure_choices[];

// "hbmview: ..." on stderr: one line that is fit for a terminal, whatever names are in it.
void command_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Says it, and returns `code`.
enum exit_code command_complain(enum exit_code code, const char *problem);

// False: the command is done with *code, having told the problem of its arguments (NULL: there is none; empty: they
// were answered already, flags_read), or its help (NULL: not asked for).
bool command_begins(const char *problem, const char *help, enum exit_code *code);

// Writes the rest of `what` ("report"), tells the errors (NULL: none), and returns how the command ends.
enum exit_code command_ends(struct report_sink *sink, const struct report_errors *errors, const char *what);
