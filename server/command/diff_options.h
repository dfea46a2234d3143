// What the user asked of `hbmview diff`.
#pragma once

#include "server/command/report_options.h"
#include "server/document/diff_document.h"

struct diff_side_options {
    const char *path;
    const char *session;  // NULL: all
    const char *module;   // NULL: all
};

struct diff_options {
    struct diff_side_options a, b;
    int64_t space;  // REPORT_ALL: HBM, or the fullest one of A where HBM is empty
    unsigned by;    // enum memory_group_by
    const char *frameworks;
    int top;
    unsigned format;       // enum format
    int64_t limit_bytes;   // --fail-above; DIFF_NO_LIMIT
    unsigned of;           // enum memory_figure
    bool follow_symlinks;  // open links that lead out of the path
    struct storage_settings storage;
    bool show_help;
};

// Reads `arguments` (they must outlive the options). False: `problem` is one sentence.
bool diff_options_parse(int count, char *const arguments[], struct diff_options *options,
                        char problem[OPTIONS_PROBLEM_BYTES]);

// The text of --help.
const char *diff_options_help(void);
