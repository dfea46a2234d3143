#include "server/command/advise_options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "server/flags.h"
#include "server/text/size_argument.h"

enum { WAYS_MAX = 1 << 20 };

const char *advise_options_help(void) {
    return "hbmview advise: what to change so that a program needs less memory, with bytes\n"
           "\n"
           "  hbmview advise PATH [--session S] [--module M] [--capacity SIZE]\n"
           "                      [--batch N] [--ways N] [--format text|json|markdown]\n"
           "\n"
           "PATH is what `hbmview report` takes. For each change: whether it applies to this\n"
           "program and why, the total HBM of the changed program with a range, and what to\n"
           "write. The prediction replays the compiler's heap with the changed arrays; the\n"
           "program's own code and what the runtime reserves are not counted.\n"
           "\n"
           "  --session S      look in this session only (all)\n"
           "  --module M       this module: \"jit_f(1)\", or \"jit_f\" (the largest one)\n"
           "  --capacity SIZE  HBM of a chip, 16GiB: then also the smallest set of changes\n"
           "                   that fits it\n"
           "  --batch N        the size of the batch dimension (found by its effects)\n"
           "  --ways N         chips to shard over (4)\n"
           "  --format F       text, json or markdown (text)\n"
           "  --help\n"
           "\n"
           "Exit codes: 0 good; 2 wrong usage; 3 something could not be read.\n";
}

static bool parse_format(const char *text, enum advise_format *format, char *problem) {
    static const char *const names[] = {[ADVISE_TEXT] = "text", [ADVISE_JSON] = "json", [ADVISE_MARKDOWN] = "markdown"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *format = (enum advise_format)i;
        return true;
    }
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "There is no format \"%.60s\"; give text, json or markdown.", text);
    return false;
}

static bool parse_capacity(const char *text, int64_t *bytes, char *problem) {
    if (size_argument_read(text, bytes) && *bytes > 0) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "\"%.60s\" is no capacity; give one such as 16GiB, 15.75GiB or 17179869184.", text);
    return false;
}

static bool take_path(const char *word, struct advise_options *options, char *problem) {
    if (!options->path) {
        options->path = word;
        return true;
    }
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "One PATH at a time: \"%.80s\" and \"%.80s\" are two.", options->path,
             word);
    return false;
}

static bool check(struct advise_options *options, const char *format, const char *capacity, char *problem) {
    if (format && !parse_format(format, &options->format, problem)) return false;
    if (capacity && !parse_capacity(capacity, &options->request.capacity_bytes, problem)) return false;
    if (options->path || options->show_help) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "Advice needs a PATH: hbmview advise PATH [--module M] [--capacity SIZE]; see hbmview advise --help.");
    return false;
}

bool advise_options_parse(int count, char *const arguments[], struct advise_options *options,
                          char problem[OPTIONS_PROBLEM_BYTES]) {
    const char *format = NULL, *capacity = NULL, *word;
    int batch = 0, ways = ADVICE_WAYS_DEFAULT;
    *options = (struct advise_options){0};
    const struct flag flags[] = {
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        {"capacity", FLAG_TEXT, .text = &capacity},
        {"format", FLAG_TEXT, .text = &format},
        {"batch", FLAG_NUMBER, .number = &batch, .min = 1, .max = INT_MAX},
        {"ways", FLAG_NUMBER, .number = &ways, .min = 2, .max = WAYS_MAX},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0]};
    struct flag_walk walk = {count, arguments, 0};
    while ((word = flags_next_word(&walk, &set, problem, OPTIONS_PROBLEM_BYTES))) {
        if (!take_path(word, options, problem)) return false;
    }
    if (problem[0]) return false;
    options->request.batch = batch;
    options->request.ways = ways;
    return check(options, format, capacity, problem);
}
