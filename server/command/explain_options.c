#include "server/command/explain_options.h"

#include <stdio.h>
#include <string.h>

#include "analysis/oom/oom_message.h"
#include "analysis/oom/oom_size.h"
#include "server/flags.h"

const char *explain_options_help(void) {
    return "hbmview explain: why did it run out of memory, and what to change\n"
           "\n"
           "  hbmview explain [FILE|-] [--logdir DIR] [--capacity SIZE]\n"
           "                  [--format text|json|markdown]\n"
           "\n"
           "FILE is a log, a traceback or just the message; - or nothing reads standard input\n"
           "(hbmview explain < train.log). Every out-of-memory message of XLA on TPU and GPU and\n"
           "of the BFC allocator is found, wherever it stands, also wrapped, prefixed by a\n"
           "logger, repeated by many hosts, or cut off.\n"
           "\n"
           "  --logdir DIR      where profiles or XLA dumps of the program are: the answer then\n"
           "                    names its buffers and where they come from\n"
           "  --session S       look in this session of DIR only\n"
           "  --module M        the program is this one (the message's own)\n"
           "  --capacity SIZE   the memory there is, as 15.75G or 16GiB or bytes; K, M, G are\n"
           "                    powers of 1024 (the message's own)\n"
           "  --format F        text, json or markdown (text)\n"
           "  --help\n"
           "\n"
           "Exit codes: 0 explained; 1 no out-of-memory message found; 2 wrong usage; 3 the log\n"
           "or DIR could not be read.\n";
}

static bool parse_format(const char *text, enum explain_format *format, char *problem) {
    static const char *const names[] = {
        [EXPLAIN_TEXT] = "text", [EXPLAIN_JSON] = "json", [EXPLAIN_MARKDOWN] = "markdown"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(text, names[i]) != 0) continue;
        *format = (enum explain_format)i;
        return true;
    }
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "There is no format \"%.60s\"; give text, json or markdown.", text);
    return false;
}

static bool parse_capacity(const char *text, int64_t *bytes, char *problem) {
    if (oom_size_parse(bytes_of(text), bytes) && *bytes > 0) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "--capacity is a size like 15.75G, 16GiB or 17179869184, not \"%.60s\".",
             text);
    return false;
}

static bool take_path(const char *word, struct explain_options *options, char *problem) {
    if (!options->path) {
        options->path = word;
        return true;
    }
    snprintf(problem, OPTIONS_PROBLEM_BYTES, "One FILE at a time: \"%.80s\" and \"%.80s\" are two.", options->path,
             word);
    return false;
}

bool explain_options_parse(int count, char *const arguments[], struct explain_options *options,
                           char problem[OPTIONS_PROBLEM_BYTES]) {
    const char *capacity = NULL, *format = NULL, *word;
    *options = (struct explain_options){.capacity_bytes = OOM_ABSENT};
    const struct flag flags[] = {
        {"logdir", FLAG_TEXT, .text = &options->logdir}, {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module}, {"capacity", FLAG_TEXT, .text = &capacity},
        {"format", FLAG_TEXT, .text = &format},          {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0]};
    struct flag_walk walk = {count, arguments, 0};
    while ((word = flags_next_word(&walk, &set, problem, OPTIONS_PROBLEM_BYTES))) {
        if (!take_path(word, options, problem)) return false;
    }
    if (problem[0]) return false;
    if (!options->path) options->path = "-";
    if (format && !parse_format(format, &options->format, problem)) return false;
    return !capacity || parse_capacity(capacity, &options->capacity_bytes, problem);
}
