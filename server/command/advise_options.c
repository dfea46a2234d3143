#include "server/command/advise_options.h"

#include <limits.h>
#include <stdio.h>

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

bool advise_options_parse(int count, char *const arguments[], struct advise_options *options,
                          char problem[OPTIONS_PROBLEM_BYTES]) {
    int batch = 0, ways = ADVICE_WAYS_DEFAULT;
    *options = (struct advise_options){0};
    const struct flag flags[] = {
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        {"capacity", FLAG_SIZE, .bytes = &options->request.capacity_bytes},
        {"format", FLAG_CHOICE, .choice = &options->format, .choices = format_choices_without_csv},
        {"batch", FLAG_NUMBER, .number = &batch, .min = 1, .max = INT_MAX},
        {"ways", FLAG_NUMBER, .number = &ways, .min = 2, .max = WAYS_MAX},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &options->path, "PATH"};
    if (!flags_read(count, arguments, &set, problem)) return false;
    options->request.batch = batch;
    options->request.ways = ways;
    if (options->path || options->show_help) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "Advice needs a PATH: hbmview advise PATH [--module M] [--capacity SIZE]; see hbmview advise --help.");
    return false;
}
