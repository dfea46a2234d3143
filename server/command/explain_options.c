#include "server/command/explain_options.h"

#include "analysis/oom/oom_message.h"

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

bool explain_options_parse(int count, char *const arguments[], struct explain_options *options,
                           char problem[OPTIONS_PROBLEM_BYTES]) {
    *options = (struct explain_options){.capacity_bytes = OOM_ABSENT};
    const struct flag flags[] = {
        {"logdir", FLAG_TEXT, .text = &options->logdir},
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        {"capacity", FLAG_SIZE, .bytes = &options->capacity_bytes},
        {"format", FLAG_CHOICE, .choice = &options->format, .choices = format_choices_without_csv},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &options->path, "FILE"};
    if (!flags_read(count, arguments, &set, problem)) return false;
    if (!options->path) options->path = "-";
    return true;
}
