// What the user asked of `hbmview explain`.
#pragma once

#include <stdint.h>

#include "server/command/command.h"

struct explain_options {
    const char *path;  // "-" for standard input
    const char *logdir, *session, *module;
    int64_t capacity_bytes;  // OOM_ABSENT: the message's own
    unsigned format;         // enum format
    bool show_help;
};

// Reads `arguments` (they must outlive the options). False: `problem` is one sentence.
bool explain_options_parse(int count, char *const arguments[], struct explain_options *options,
                           char problem[OPTIONS_PROBLEM_BYTES]);

// The text of --help.
const char *explain_options_help(void);
