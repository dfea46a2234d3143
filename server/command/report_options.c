#include "server/command/report_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/base/size_text.h"
#include "analysis/groups/frameworks.h"
#include "analysis/groups/memory_groups.h"
#include "analysis/memory/memory_totals.h"

enum { NAMED_SPACES = 7, TEXT_TOP_DEFAULT = 10, GROWTH_PERCENT_MAX = 1000000 };

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
        name = options->host && !options->is_trend ? "host" : options->memory_id ? "memory-id" : NULL;
    else
        name = options->module                                               ? "module"
               : options->space != REPORT_ALL                                ? "memory-space"
               : options->by != GROUP_BY_COUNT                               ? "by"
               : options->step != MEMORY_GROUPS_AT_PEAK                      ? "step"
               : options->weight != GROUP_WEIGHT_COUNT                       ? "weight"
               : options->frameworks                                         ? "frameworks"
               : options->fail_of                                            ? "of"
               : options->memory_id && options->tool == REPORT_DEVICE_MEMORY ? "memory-id"
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

// A growth is a size, or a part of what was before: "256MiB", "5%".
static bool read_growth(const char *text, struct report_options *options, char *problem) {
    char *end;
    if (!text || size_text_read(text, &options->growth_bytes)) return true;
    options->growth_percent = strtod(text, &end);
    options->has_growth_percent = end != text && strcmp(end, "%") == 0 && options->growth_percent >= 0 &&
                                  options->growth_percent <= GROWTH_PERCENT_MAX;
    if (!options->has_growth_percent && strcmp(text, "0") == 0) options->growth_bytes = 0;
    if (options->has_growth_percent || options->growth_bytes == 0) return true;
    snprintf(problem, OPTIONS_PROBLEM_BYTES,
             "--max-growth wants a size or a percentage such as 256MiB or 5%%, not \"%.60s\".", text);
    return false;
}

static bool goes_with_trend(const struct report_options *options, const char *growth, char *problem) {
    const char *alone = growth ? "max-growth" : options->tool == REPORT_DEVICE_MEMORY ? "tool=device_memory" : NULL;
    const char *name = options->session                         ? "session"
                       : options->step != MEMORY_GROUPS_AT_PEAK ? "step"
                       : options->weight != GROUP_WEIGHT_COUNT  ? "weight"
                       : options->fail_over_bytes != REPORT_ALL ? "fail-over"
                       : options->format == FORMAT_HTML         ? "format=html"
                                                                : NULL;
    if (!options->is_trend && alone)
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--%s goes with --trend only.", alone);
    else if (options->is_trend && name)
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--%s does not go with --trend.", name);
    return options->is_trend ? !name : !alone;
}

// A list of sessions opens none of them.
static bool goes_with_sessions(const struct report_options *options, const char *space, const char *growth,
                               char *problem) {
    const char *name = options->session                         ? "session"
                       : options->module                        ? "module"
                       : space                                  ? "memory-space"
                       : options->top != REPORT_ALL             ? "top"
                       : options->by != GROUP_BY_COUNT          ? "by"
                       : options->weight != GROUP_WEIGHT_COUNT  ? "weight"
                       : options->step != MEMORY_GROUPS_AT_PEAK ? "step"
                       : options->frameworks                    ? "frameworks"
                       : options->tool != REPORT_MEMORY_VIEWER  ? "tool"
                       : options->host                          ? "host"
                       : options->memory_id                     ? "memory-id"
                       : options->fail_over_bytes != REPORT_ALL ? "fail-over"
                       : options->is_trend                      ? "trend"
                       : growth                                 ? "max-growth"
                       : options->format == FORMAT_HTML         ? "format=html"
                                                                : NULL;
    if (name && options->is_session_list)
        snprintf(problem, OPTIONS_PROBLEM_BYTES, "--%s does not go with --sessions.", name);
    return !name || !options->is_session_list;
}

static bool finish(const char *space, const char *growth, struct report_options *options, char *problem) {
    if (space && !report_space_read(space, &options->space, problem)) return false;
    if (!goes_with_sessions(options, space, growth, problem)) return false;
    if (is_of_other_tool(options, problem) || !goes_with_trend(options, growth, problem)) return false;
    if (!read_growth(growth, options, problem)) return false;
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
    static const struct flag_choice tools[] = {{"memory_viewer", REPORT_MEMORY_VIEWER},
                                               {"memory_profile", REPORT_MEMORY_PROFILE},
                                               {"device_memory", REPORT_DEVICE_MEMORY},
                                               {NULL, 0}};
    struct flag_choice by[GROUP_BY_COUNT + 1] = {{NULL, 0}};
    for (unsigned i = 0; i < GROUP_BY_COUNT; i++)
        by[i] = (struct flag_choice){memory_group_by_name((enum memory_group_by)i), i};
    struct flag_choice weights[GROUP_WEIGHT_COUNT + 1] = {{NULL, 0}};
    for (unsigned i = 0; i < GROUP_WEIGHT_COUNT; i++)
        weights[i] = (struct flag_choice){memory_group_weight_name((enum memory_group_weight)i), i};
    const char *space = NULL, *growth = NULL;
    *options = (struct report_options){.space = REPORT_ALL,
                                       .top = REPORT_ALL,
                                       .fail_over_bytes = REPORT_ALL,
                                       .growth_bytes = REPORT_ALL,
                                       .by = GROUP_BY_COUNT,
                                       .weight = GROUP_WEIGHT_COUNT,
                                       .step = MEMORY_GROUPS_AT_PEAK,
                                       .storage = storage_settings_usual()};
    const struct flag flags[] = {
        {"session", FLAG_TEXT, .text = &options->session},
        {"module", FLAG_TEXT, .text = &options->module},
        STORAGE_FLAGS(options->storage),
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
        {"sessions", FLAG_SWITCH, .on = &options->is_session_list},
        {"trend", FLAG_SWITCH, .on = &options->is_trend},
        {"max-growth", FLAG_TEXT, .text = &growth},
        {"follow_symlinks", FLAG_SWITCH, .on = &options->follow_symlinks},
        {"help", FLAG_SWITCH, .on = &options->show_help},
    };
    const struct flag_set set = {flags, sizeof flags / sizeof flags[0], &options->path, "PATH", NULL};
    if (!flags_read(count, arguments, &set, problem)) return false;
    return options->show_help || finish(space, growth, options, problem);
}
