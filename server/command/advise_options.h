// What the user asked of `hbmview advise`.
#pragma once

#include "analysis/advice/advice.h"
#include "server/command/command.h"

struct advise_options {
    const char *path;
    const char *session;  // NULL: all
    const char *module;   // NULL: the largest
    struct advice_request request;
    unsigned format;  // enum format
    bool show_help;
};

// Reads `arguments` (they must outlive the options). False: `problem` is one sentence.
bool advise_options_parse(int count, char *const arguments[], struct advise_options *options,
                          char problem[OPTIONS_PROBLEM_BYTES]);

// The text of --help.
const char *advise_options_help(void);
