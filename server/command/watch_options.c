#include "server/command/watch_options.h"

#include <limits.h>
#include <stdio.h>

const char *watch_options_help(void) {
    return "hbmview watch: a line for each new program or peak, while a run writes them\n"
           "\n"
           "  hbmview watch PATH [--existing] [--fail-over SIZE] [--capacity SIZE]\n"
           "                     [--for SECONDS | --once] [--format text|json]\n"
           "\n"
           "PATH is what `hbmview report` takes: a log directory, a folder that --xla_dump_to\n"
           "fills, a memory.prof, gs://bucket/run, ... It may come later than the command.\n"
           "A profile is told when it is complete; one that cannot be read gets a line on\n"
           "stderr, and the others go on. A program that is told once is told again when\n"
           "its peak or its total is another one.\n"
           "\n"
           "  --follow_symlinks  open links that lead out of PATH\n"
           "  --existing        first tell what is there already (only what is new)\n"
           "  --once            tell what is there, and end\n"
           "  --for SECONDS     end after so long (never: Ctrl-C ends it)\n"
           "  --fail-over SIZE  end with exit code 1 when a peak is above it: 16GiB, v5e, H100\n"
           "  --capacity SIZE   share of it, 16GiB or v5e (as the profile tells it)\n"
           "  --format F        text, or json: one object on each line (text)\n" STORAGE_FLAGS_HELP "  --help\n"
           "\n"
           "A line has the time at which the file was written, session / host / program,\n"
           "peak and total in HBM (or the fullest memory space), and who holds most of the\n"
           "peak. In a training script: hbmview watch \"$LOGDIR\" >> hbm.log &\n"
           "\n"
           "Exit codes: 0 good, also when it was interrupted; 1 a peak is above --fail-over;\n"
           "2 wrong usage; 3 PATH cannot be read (with --once: or something in it), or the\n"
           "output not written.\n";
}

static bool finish(struct watch_options *options, bool has_seconds, char *problem) {
    if (options->is_once && has_seconds) {
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--once and --for exclude each other: --once is no time at all.");
        return false;
    }
    if (options->is_once) options->tells_existing = true;
    if (options->path) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "It needs a PATH to watch: hbmview watch PATH [--fail-over SIZE]; see hbmview watch --help.");
    return false;
}

bool watch_options_parse(int count, char *const arguments[], struct watch_options *options,
                         char problem[OPTIONS_PROBLEM_BYTES]) {
    static const struct flag_choice formats[] = {{"text", FORMAT_TEXT}, {"json", FORMAT_JSON}, {NULL, 0}};
    *options = (struct watch_options){
        .seconds = WATCH_FOR_EVER, .fail_over_bytes = WATCH_ANY_SIZE, .storage = storage_settings_usual()};
    const struct flag flags[] = {
        {"existing", FLAG_SWITCH, .on = &options->tells_existing},
        {"once", FLAG_SWITCH, .on = &options->is_once},
        {"for", FLAG_NUMBER, .number = &options->seconds, .min = 0, .max = INT_MAX},
        {"fail-over", FLAG_CAPACITY, .bytes = &options->fail_over_bytes},
        {"capacity", FLAG_CAPACITY, .bytes = &options->capacity_bytes},
        STORAGE_FLAGS(options->storage),
        {"format", FLAG_CHOICE, .choice = &options->format, .choices = formats},
        {"follow_symlinks", FLAG_SWITCH, .on = &options->follow_symlinks},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &options->path, "PATH", NULL};
    if (!flags_read(count, arguments, &set, problem)) return false;
    return options->show_help || finish(options, options->seconds != WATCH_FOR_EVER, problem);
}
