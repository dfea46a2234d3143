#include "server/command/report_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/memory/memory_totals.h"
#include "server/flags.h"
#include "server/text/size_argument.h"

enum { NAMED_SPACES = 7, TEXT_TOP_DEFAULT = 10 };

const char *report_options_help(void) {
    return "hbmview report: where the memory of compiled programs goes, as text\n"
           "\n"
           "  hbmview report PATH [--session S] [--module M] [--memory-space HBM]\n"
           "                      [--top N] [--format text|json|csv|markdown]\n"
           "  hbmview report PATH --tool memory_profile [--session S] [--host H]\n"
           "                      [--memory-id I] [--fail-over SIZE] [--top N] [--format F]\n"
           "\n"
           "PATH is a log directory, a plugins/profile folder, a session folder, a folder of\n"
           "profiles, or one *.xplane.pb, *.hlo_proto.pb or *.hlo.pb file; each also .gz.\n"
           "A memory.prof of jax.profiler.save_device_memory_profile, given as PATH or found\n"
           "in it, is told by Python stack.\n"
           "\n"
           "  --session S       this session only (all)\n"
           "  --module M        this module only: \"jit_f(1)\", or every program of \"jit_f\"\n"
           "                    (all)\n"
           "  --memory-space N  this memory space only: HBM, VMEM, Sflag, CMEM, SMEM, Host,\n"
           "                    SparseCore or a number (text: HBM, or the fullest one where\n"
           "                    HBM is empty; json and csv: each that is not empty)\n"
           "  --top N           so many buffers at the peak (text: 10; json and csv: all)\n"
           "  --format F        text, json, csv or markdown (text)\n"
           "  --tool T          memory_viewer: what compiled programs need (the default);\n"
           "                    memory_profile: what allocators did while it was profiled\n"
           "  --help\n"
           "\n"
           "text and markdown list every module, the newest session first, then take the\n"
           "biggest module apart. json and csv hold every module, in bytes; csv has one row\n"
           "for each buffer at the peak. Buffers come largest first. A program that several\n"
           "hosts have under one name and in one size is listed once, with the first host.\n"
           "text is as wide as the terminal, or an exported $COLUMNS, else 80 columns; it\n"
           "shortens names and leaves out the layouts of shapes, the other formats do not.\n"
           "\n"
           "With --tool memory_profile, for each memory of each host: its peak and what\n"
           "filled it then, what grows from step to step, whether a request may have failed.\n"
           "  --host H          this host only (all)\n"
           "  --memory-id I     this memory only: an allocator, a device (all)\n"
           "  --fail-over SIZE  exit 1 when a peak is above it: 16GiB, 512MiB, 1073741824\n"
           "  --top N           so many rows at the peak, and so many ops that grow\n"
           "Of several sessions, text and markdown list every memory, then take the one\n"
           "with the highest peak apart. csv has the rows at each peak and rows for the\n"
           "rest, so that those of a memory sum to its heap.\n"
           "\n"
           "Exit codes: 0 good; 1 a peak is above --fail-over; 2 wrong usage; 3 something\n"
           "that was asked for could not be read, or the output not written. Then all that\n"
           "could be read is printed, and stderr (and \"errors\" in json) says which file, at\n"
           "which byte, and why. A session without compiled programs, or without memory\n"
           "events, is no error.\n";
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

static bool parse_tool(const char *text, enum report_tool *tool, char *problem) {
    static const char *const names[] = {
        [REPORT_MEMORY_VIEWER] = "memory_viewer", [REPORT_MEMORY_PROFILE] = "memory_profile"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *tool = (enum report_tool)i;
        return true;
    }
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "There is no tool \"%.60s\"; give memory_viewer or memory_profile.", text);
    return false;
}

static bool parse_fail_over(const char *text, int64_t *bytes, char *problem) {
    if (size_argument_read(text, bytes)) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "\"%.60s\" is no size; give one such as 16GiB, 512MiB or 1073741824.",
             text);
    return false;
}

static bool is_of_other_tool(const struct report_options *options, char *problem) {
    bool is_viewer = options->tool == REPORT_MEMORY_VIEWER;
    const char *name = NULL;
    if (is_viewer)
        name = options->host                            ? "host"
               : options->memory_id                     ? "memory-id"
               : options->fail_over_bytes != REPORT_ALL ? "fail-over"
                                                        : NULL;
    else
        name = options->module ? "module" : options->space != REPORT_ALL ? "memory-space" : NULL;
    if (name)
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--%s goes with --tool=%s only.", name,
                 is_viewer ? "memory_profile" : "memory_viewer");
    return name != NULL;
}

struct option_words {
    const char *space, *format, *tool, *fail_over;
};

static bool parse_words(const struct option_words *words, struct report_options *options, char *problem) {
    if (words->space && !parse_space(words->space, &options->space, problem)) return false;
    if (words->format && !parse_format(words->format, &options->format, problem)) return false;
    if (words->tool && !parse_tool(words->tool, &options->tool, problem)) return false;
    if (words->fail_over && !parse_fail_over(words->fail_over, &options->fail_over_bytes, problem)) return false;
    if (is_of_other_tool(options, problem)) return false;
    bool is_short = options->format == REPORT_TEXT || options->format == REPORT_MARKDOWN;
    if (options->top == REPORT_ALL && is_short) options->top = TEXT_TOP_DEFAULT;
    if (options->path) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "The report needs a PATH: hbmview report PATH [--session S] [--module M]; see hbmview report --help.");
    return false;
}

bool report_options_parse(int count, char *const arguments[], struct report_options *options,
                          char problem[OPTIONS_PROBLEM_BYTES]) {
    struct option_words words = {0};
    const char *word;
    *options = (struct report_options){.space = REPORT_ALL, .top = REPORT_ALL, .fail_over_bytes = REPORT_ALL};
    const struct flag flags[] = {
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        {"memory-space", FLAG_TEXT, .text = &words.space},
        {"memory_space", FLAG_TEXT, .text = &words.space},
        {"top", FLAG_NUMBER, .number = &options->top, .min = 0, .max = INT_MAX},
        {"format", FLAG_TEXT, .text = &words.format},
        {"tool", FLAG_TEXT, .text = &words.tool},
        {"host", FLAG_TEXT, .text = &options->host},
        {"memory-id", FLAG_TEXT, .text = &options->memory_id},
        {"memory_id", FLAG_TEXT, .text = &options->memory_id},
        {"fail-over", FLAG_TEXT, .text = &words.fail_over},
        {"fail_over", FLAG_TEXT, .text = &words.fail_over},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0]};
    struct flag_walk walk = {count, arguments, 0};
    while ((word = flags_next_word(&walk, &set, problem, OPTIONS_PROBLEM_BYTES))) {
        if (!take_path(word, options, problem)) return false;
    }
    if (problem[0]) return false;
    return options->show_help || parse_words(&words, options, problem);
}
