#include "server/report/report_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/memory/memory_totals.h"
#include "server/flags.h"

enum { NAMED_SPACES = 7, TEXT_TOP_DEFAULT = 10 };

const char *report_options_help(void) {
    return "hbmview report: where the memory of compiled programs goes, as text\n"
           "\n"
           "  hbmview report PATH [--session S] [--module M] [--memory-space HBM]\n"
           "                      [--top N] [--format text|json|csv|markdown]\n"
           "\n"
           "PATH is a log directory, a plugins/profile folder, a session folder, a folder of\n"
           "profiles, or one *.xplane.pb, *.hlo_proto.pb or *.hlo.pb file; each also .gz.\n"
           "\n"
           "  --session S       this session only (all)\n"
           "  --module M        this module only: \"jit_f(1)\", or every program of \"jit_f\"\n"
           "                    (all)\n"
           "  --memory-space N  this memory space only: HBM, VMEM, Sflag, CMEM, SMEM, Host,\n"
           "                    SparseCore or a number (text: HBM, or the fullest one where\n"
           "                    HBM is empty; json and csv: each that is not empty)\n"
           "  --top N           so many buffers at the peak (text: 10; json and csv: all)\n"
           "  --format F        text, json, csv or markdown (text)\n"
           "  --help\n"
           "\n"
           "text and markdown list every module, the newest session first, then take the\n"
           "biggest module apart. json and csv hold every module, in bytes; csv has one row\n"
           "for each buffer at the peak. Buffers come largest first. A program that several\n"
           "hosts have under one name and in one size is listed once, with the first host.\n"
           "text is as wide as the terminal, or an exported $COLUMNS, else 80 columns; it\n"
           "shortens names and leaves out the layouts of shapes, the other formats do not.\n"
           "\n"
           "Exit codes: 0 good; 2 wrong usage; 3 something that was asked for could not be\n"
           "read, or the output not written. Then all that could be read is printed, and\n"
           "stderr (and \"errors\" in json) says which file, at which byte, and why. A session\n"
           "without compiled programs is no error.\n";
}

static bool parse_space_number(const char *text, int64_t *space) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < 0) return false;
    *space = number;
    return true;
}

static bool parse_space(const char *text, int64_t *space, char *problem) {
    char name[MEMORY_SPACE_NAME_BYTES];
    for (int64_t i = 0; i < NAMED_SPACES; i++) {
        if (strcasecmp(text, memory_space_name(i, name)) != 0) continue;
        *space = i;
        return true;
    }
    if (parse_space_number(text, space)) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "There is no memory space \"%.60s\"; give HBM, VMEM, Sflag, CMEM, SMEM, Host, SparseCore or a number.",
             text);
    return false;
}

static bool parse_format(const char *text, enum report_format *format, char *problem) {
    static const char *const names[] = {
        [REPORT_TEXT] = "text", [REPORT_JSON] = "json", [REPORT_CSV] = "csv", [REPORT_MARKDOWN] = "markdown"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *format = (enum report_format)i;
        return true;
    }
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "There is no format \"%.60s\"; give text, json, csv or markdown.", text);
    return false;
}

static bool take_path(const char *word, struct report_options *options, char *problem) {
    if (!options->path) {
        options->path = word;
        return true;
    }
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "One PATH at a time: \"%.80s\" and \"%.80s\" are two.", options->path,
             word);
    return false;
}

static bool parse_words(const char *space, const char *format, struct report_options *options, char *problem) {
    if (space && !parse_space(space, &options->space, problem)) return false;
    if (format && !parse_format(format, &options->format, problem)) return false;
    bool is_short = options->format == REPORT_TEXT || options->format == REPORT_MARKDOWN;
    if (options->top == REPORT_ALL && is_short) options->top = TEXT_TOP_DEFAULT;
    if (options->path) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "The report needs a PATH: hbmview report PATH [--session S] [--module M]; see hbmview report --help.");
    return false;
}

bool report_options_parse(int count, char *const arguments[], struct report_options *options,
                          char problem[OPTIONS_PROBLEM_BYTES]) {
    const char *space = NULL, *format = NULL, *word;
    *options = (struct report_options){.space = REPORT_ALL, .top = REPORT_ALL};
    const struct flag flags[] = {
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        {"memory-space", FLAG_TEXT, .text = &space},
        {"memory_space", FLAG_TEXT, .text = &space},
        {"top", FLAG_NUMBER, .number = &options->top, .min = 0, .max = INT_MAX},
        {"format", FLAG_TEXT, .text = &format},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0]};
    struct flag_walk walk = {count, arguments, 0};
    while ((word = flags_next_word(&walk, &set, problem, OPTIONS_PROBLEM_BYTES))) {
        if (!take_path(word, options, problem)) return false;
    }
    if (problem[0]) return false;
    return options->show_help || parse_words(space, format, options, problem);
}
