#include "server/command/diff_options.h"

#include <limits.h>
#include <stdio.h>

#include "analysis/groups/frameworks.h"

enum { TEXT_TOP_DEFAULT = 10 };

const char *diff_options_help(void) {
    return "hbmview diff: what changed between two compiled programs, line by line and\n"
           "buffer by buffer\n"
           "\n"
           "  hbmview diff A B [--module M] [--module-b M] [--session S] [--session-b S]\n"
           "                   [--memory-space HBM] [--by KEY] [--frameworks LIST] [--top N]\n"
           "                   [--fail-above SIZE] [--of peak|total]\n"
           "                   [--format text|json|markdown]\n"
           "\n"
           "A (before) and B (after) are each what `hbmview report` takes: a session folder, a\n"
           "folder of XLA's --xla_dump_to, one *.xplane.pb, *.hlo_proto.pb or *.hlo.pb file,\n"
           "each also .gz; a log directory with --session.\n"
           "\n"
           "  --module M        this module: \"jit_f(1)\", or \"jit_f\" (the largest one that\n"
           "                    both have; of the others it says what they take)\n"
           "  --module-b M      that of B (as --module, else the one called as that of A)\n"
           "  --follow_symlinks  open links that lead out of A or B\n"
           "  --session S       look in this session only\n"
           "  --session-b S     that of B (as --session)\n"
           "  --memory-space N  HBM, VMEM, Sflag, CMEM, SMEM, Host, SparseCore or a number\n"
           "                    (HBM, or the fullest one where that is empty)\n"
           "  --by KEY          what changed, by source (the line of your program), stack,\n"
           "                    scope, argument, phase, category, dtype, shape or opcode\n"
           "                    (source)\n"
           "  --frameworks L    files of these packages are not your lines: a,b/c; +a,b adds\n"
           "                    to the usual ones (jax, flax, keras, ...)\n"
           "  --top N           so many groups, and so many buffers (text: 10; json: all)\n"
           "  --fail-above SIZE exit 1 when the peak grew by more: 100MiB, 1G, 1048576\n"
           "  --of F            the figure --fail-above is about: peak or total (peak)\n"
           "  --format F        text, json or markdown (text)\n" STORAGE_FLAGS_HELP "  --help\n"
           "\n"
           "Groups and buffers sum to the difference of the peaks, with what is reserved\n"
           "beyond the peaks to that of the totals, to the byte. Buffers are matched by the\n"
           "path of an argument, else by op name, opcode, shape and place in the program;\n"
           "docs/diff.md says how, and has a recipe for a CI job that comments on a pull\n"
           "request.\n"
           "\n"
           "Exit codes: 0 good; 1 what is compared grew by more than --fail-above; 2 wrong\n"
           "usage; 3 A or B could not be read, or the output not written.\n";
}

static bool finish(const char *space, struct diff_options *options, char *problem) {
    if (space && !report_space_read(space, &options->space, problem)) return false;
    if (!options->b.session) options->b.session = options->a.session;
    if (!options->b.module) options->b.module = options->a.module;
    if (!options->frameworks) options->frameworks = FRAMEWORKS_DEFAULT;
    if (options->top == DIFF_ALL && options->format != FORMAT_JSON) options->top = TEXT_TOP_DEFAULT;
    if (options->a.path && options->b.path) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "A comparison needs two paths: hbmview diff BEFORE AFTER [--module M]; see hbmview diff --help.");
    return false;
}

bool diff_options_parse(int count, char *const arguments[], struct diff_options *options,
                        char problem[OPTIONS_PROBLEM_BYTES]) {
    struct flag_choice by[GROUP_BY_COUNT + 1] = {{NULL, 0}};
    for (unsigned i = 0; i < GROUP_BY_COUNT; i++)
        by[i] = (struct flag_choice){memory_group_by_name((enum memory_group_by)i), i};
    const char *space = NULL;
    *options = (struct diff_options){
        .space = REPORT_ALL, .top = DIFF_ALL, .limit_bytes = DIFF_NO_LIMIT, .storage = storage_settings_usual()};
    const struct flag flags[] = {
        STORAGE_FLAGS(options->storage),
        {"session", FLAG_TEXT, .text = &options->a.session},
        {"session-b", FLAG_TEXT, .text = &options->b.session},
        {"module", FLAG_TEXT, .text = &options->a.module},
        {"module-b", FLAG_TEXT, .text = &options->b.module},
        {"memory-space", FLAG_TEXT, .text = &space},
        {"by", FLAG_CHOICE, .choice = &options->by, .choices = by},
        {"frameworks", FLAG_TEXT, .text = &options->frameworks},
        {"top", FLAG_NUMBER, .number = &options->top, .min = 0, .max = INT_MAX},
        {"fail-above", FLAG_SIZE, .bytes = &options->limit_bytes},
        {"of", FLAG_CHOICE, .choice = &options->of, .choices = figure_choices},
        {"format", FLAG_CHOICE, .choice = &options->format, .choices = format_choices_without_csv},
        {"follow_symlinks", FLAG_SWITCH, .on = &options->follow_symlinks},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &options->a.path, "paths", &options->b.path};
    if (!flags_read(count, arguments, &set, problem)) return false;
    return options->show_help || finish(space, options, problem);
}
