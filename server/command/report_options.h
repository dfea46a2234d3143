// What the user asked of `hbmview report`.
#pragma once

#include <stdint.h>

#include "server/command/command.h"
#include "server/command/progress.h"

// Device memory profiles are told with the programs, but followed over sessions on their own.
enum report_tool { REPORT_MEMORY_VIEWER, REPORT_MEMORY_PROFILE, REPORT_DEVICE_MEMORY };

enum { REPORT_ALL = -1 };

struct report_options {
    const char *path;
    const char *session;      // NULL: all
    const char *module;       // NULL: all
    int64_t space;            // REPORT_ALL: every memory space
    int top;                  // REPORT_ALL: every buffer; of a memory profile every row
    unsigned format;          // enum format
    unsigned tool;            // enum report_tool
    const char *host;         // of a memory profile, as the next two; NULL: all
    const char *memory_id;    // NULL: all
    int64_t fail_over_bytes;  // the most that a peak may be; REPORT_ALL: anything
    unsigned fail_of;         // enum memory_figure; of a memory profile the peak
    bool has_groups;          // --by, --step or --weight was given
    unsigned by;              // enum memory_group_by
    unsigned weight;          // enum memory_group_weight
    int step;                 // MEMORY_GROUPS_AT_PEAK: that of the peak
    const char *frameworks;   // whose files are not the reader's (analysis/groups/frameworks.h)
    bool is_session_list;     // what there is, instead of what is in it
    bool is_trend;            // over all sessions, as the next three
    int64_t growth_bytes;     // the most that the newest may have grown by; REPORT_ALL: anything
    bool has_growth_percent;  // then it is a part of what was before
    double growth_percent;
    bool follow_symlinks;  // open links that lead out of the path
    struct storage_settings storage;
    bool show_help;
    struct progress *progress;  // the line that says how far it is; NULL: there is none
};

// How many of `count` rows are shown.
static inline uint32_t report_at_most(uint32_t count, int top) {
    return top != REPORT_ALL && (uint32_t)top < count ? (uint32_t)top : count;
}

// Reads `arguments` (they must outlive the options). False: `problem` is one sentence.
bool report_options_parse(int count, char *const arguments[], struct report_options *options,
                          char problem[OPTIONS_PROBLEM_BYTES]);

// A memory space by name or number. False: `problem` is one sentence.
bool report_space_read(const char *text, int64_t *space, char problem[OPTIONS_PROBLEM_BYTES]);

// The text of --help.
const char *report_options_help(void);
