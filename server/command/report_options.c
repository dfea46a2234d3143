#include "server/command/report_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/groups/frameworks.h"
#include "analysis/groups/memory_groups.h"
#include "analysis/memory/memory_totals.h"

enum { NAMED_SPACES = 7, TEXT_TOP_DEFAULT = 10 };

const char *report_options_help(void) {
    return "hbmview report: where the memory of compiled programs goes, as text\n"
           "\n"
           "  hbmview report PATH [--session S] [--module M] [--memory-space HBM]\n"
           "                      [--by KEY] [--step N] [--weight W] [--frameworks LIST]\n"
           "                      [--fail-over SIZE] [--of peak|total]\n"
           "                      [--top N] [--format text|json|csv|markdown|html]\n"
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
           "  --by KEY          who holds it: source (a line of your program), stack, scope,\n"
           "                    argument, phase, category, dtype, shape or opcode\n"
           "  --step N          at this step of the program (the peak)\n"
           "  --weight W        sort and share by size, padding or size_x_lifetime (size)\n"
           "  --frameworks L    files of these packages are not your lines: a,b/c; +a,b adds\n"
           "                    to the usual ones (jax, flax, keras, ...)\n"
           "  --fail-over SIZE  exit 1 when a peak is above it: 16GiB, 512MiB, v5e, H100\n"
           "  --of F            ... or the total: peak or total (peak)\n"
           "  --top N           so many rows: buffers at the peak, or groups (text: 10; json\n"
           "                    and csv: all)\n"
           "  --format F        text, json, csv or markdown (text); html: the page of one\n"
           "                    session as a file that works from disk: > report.html\n"
           "  --tool T          memory_viewer: what compiled programs need (the default);\n"
           "                    memory_profile: what allocators did while it was profiled\n"
           "  --help\n"
           "\n"
           "text and markdown list every module, the newest session first, then take the\n"
           "biggest module apart: who holds its memory, then its buffers, equal ones in one\n"
           "row. json and csv hold every module, in bytes; csv has one row for each buffer\n"
           "at the peak, with --by or --step one for each group. The largest come first. A\n"
           "program that several hosts have under one name and in one size is listed once,\n"
           "with the first host.\n"
           "text is as wide as the terminal, or an exported $COLUMNS, else 80 columns; it\n"
           "shortens names and leaves out the layouts of shapes, the other formats do not.\n"
           "\n"
           "With --tool memory_profile, for each memory of each host: its peak and what\n"
           "filled it then, what grows from step to step, whether a request may have failed.\n"
           "  --host H          this host only (all)\n"
           "  --memory-id I     this memory only: an allocator, a device (all)\n"
           "  --top N           so many rows at the peak, and so many ops that grow\n"
           "Of several sessions, text and markdown list every memory, then take the one\n"
           "with the highest peak apart. csv has the rows at each peak and rows for the\n"
           "rest, so that those of a memory sum to its heap.\n"
           "\n"
           "Exit codes: 0 good; 1 a figure is above --fail-over; 2 wrong usage; 3 something\n"
           "that was asked for could not be read, or the output not written. Then all that\n"
           "could be read is printed, and stderr (\"errors\" in json) says which file, where,\n"
           "and why. A session without programs or memory events is no error.\n";
}

static bool parse_space_number(const char *text, int64_t *space) {
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno || end == text || *end || number < 0) return false;
    *space = number;
    return true;
}

bool report_space_read(const char *text, int64_t *space, char problem[OPTIONS_PROBLEM_BYTES]) {
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

static bool is_of_other_tool(const struct report_options *options, char *problem) {
    bool is_viewer = options->tool == REPORT_MEMORY_VIEWER;
    const char *name = NULL;
    if (is_viewer)
        name = options->host ? "host" : options->memory_id ? "memory-id" : NULL;
    else
        name = options->module                          ? "module"
               : options->space != REPORT_ALL           ? "memory-space"
               : options->by != GROUP_BY_COUNT          ? "by"
               : options->step != MEMORY_GROUPS_AT_PEAK ? "step"
               : options->weight != GROUP_WEIGHT_COUNT  ? "weight"
               : options->frameworks                    ? "frameworks"
               : options->fail_of                       ? "of"
                                                        : NULL;
    if (name)
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--%s goes with --tool=%s only.", name,
                 is_viewer ? "memory_profile" : "memory_viewer");
    return name != NULL;
}

// What a page has its own controls for.
static bool goes_with_html(const struct report_options *options, char *problem) {
    const char *name = options->step != MEMORY_GROUPS_AT_PEAK   ? "step"
                       : options->by != GROUP_BY_COUNT          ? "by"
                       : options->weight != GROUP_WEIGHT_COUNT  ? "weight"
                       : options->frameworks                    ? "frameworks"
                       : options->top != REPORT_ALL             ? "top"
                       : options->space != REPORT_ALL           ? "memory-space"
                       : options->fail_over_bytes != REPORT_ALL ? "fail-over"
                                                                : NULL;
    if (name && options->format == FORMAT_HTML)
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--%s does not go with --format=html.", name);
    return !name || options->format != FORMAT_HTML;
}

static bool finish(const char *space, struct report_options *options, char *problem) {
    if (space && !report_space_read(space, &options->space, problem)) return false;
    if (is_of_other_tool(options, problem)) return false;
    options->has_groups = options->by != GROUP_BY_COUNT || options->step != MEMORY_GROUPS_AT_PEAK ||
                          options->weight != GROUP_WEIGHT_COUNT;
    if (!goes_with_html(options, problem)) return false;
    if (options->by == GROUP_BY_COUNT) options->by = GROUP_BY_SOURCE;
    if (options->weight == GROUP_WEIGHT_COUNT) options->weight = GROUP_WEIGHT_SIZE;
    if (!options->frameworks) options->frameworks = FRAMEWORKS_DEFAULT;
    bool is_short = options->format == FORMAT_TEXT || options->format == FORMAT_MARKDOWN;
    if (options->top == REPORT_ALL && is_short) options->top = TEXT_TOP_DEFAULT;
    if (options->path) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "The report needs a PATH: hbmview report PATH [--session S] [--module M]; see hbmview report --help.");
    return false;
}

bool report_options_parse(int count, char *const arguments[], struct report_options *options,
                          char problem[OPTIONS_PROBLEM_BYTES]) {
    static const struct flag_choice tools[] = {
        {"memory_viewer", REPORT_MEMORY_VIEWER}, {"memory_profile", REPORT_MEMORY_PROFILE}, {NULL, 0}};
    struct flag_choice by[GROUP_BY_COUNT + 1] = {{NULL, 0}};
    for (unsigned i = 0; i < GROUP_BY_COUNT; i++)
        by[i] = (struct flag_choice){memory_group_by_name((enum memory_group_by)i), i};
    struct flag_choice weights[GROUP_WEIGHT_COUNT + 1] = {{NULL, 0}};
    for (unsigned i = 0; i < GROUP_WEIGHT_COUNT; i++)
        weights[i] = (struct flag_choice){memory_group_weight_name((enum memory_group_weight)i), i};
    const char *space = NULL;
    *options = (struct report_options){.space = REPORT_ALL,
                                       .top = REPORT_ALL,
                                       .fail_over_bytes = REPORT_ALL,
                                       .by = GROUP_BY_COUNT,
                                       .weight = GROUP_WEIGHT_COUNT,
                                       .step = MEMORY_GROUPS_AT_PEAK};
    const struct flag flags[] = {
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        {"memory-space", FLAG_TEXT, .text = &space},
        {"top", FLAG_NUMBER, .number = &options->top, .min = 0, .max = INT_MAX},
        {"by", FLAG_CHOICE, .choice = &options->by, .choices = by},
        {"weight", FLAG_CHOICE, .choice = &options->weight, .choices = weights},
        {"step", FLAG_NUMBER, .number = &options->step, .min = 0, .max = INT_MAX},
        {"frameworks", FLAG_TEXT, .text = &options->frameworks},
        {"format", FLAG_CHOICE, .choice = &options->format, .choices = format_choices},
        {"tool", FLAG_CHOICE, .choice = &options->tool, .choices = tools},
        {"host", FLAG_TEXT, .text = &options->host},
        {"memory-id", FLAG_TEXT, .text = &options->memory_id},
        {"fail-over", FLAG_CAPACITY, .bytes = &options->fail_over_bytes},
        {"of", FLAG_CHOICE, .choice = &options->fail_of, .choices = figure_choices},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &options->path, "PATH", NULL};
    if (!flags_read(count, arguments, &set, problem)) return false;
    return options->show_help || finish(space, options, problem);
}
