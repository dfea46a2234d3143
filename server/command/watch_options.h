// What the user asked of `hbmview watch`.
#pragma once

#include <stdint.h>

#include "server/command/command.h"

enum { WATCH_FOR_EVER = -1, WATCH_ANY_SIZE = -1 };

struct watch_options {
    const char *path;
    bool tells_existing, is_once;
    int seconds;              // WATCH_FOR_EVER
    int64_t fail_over_bytes;  // WATCH_ANY_SIZE
    int64_t capacity_bytes;   // 0: as the profile tells it
    unsigned format;          // FORMAT_TEXT or FORMAT_JSON
    bool follow_symlinks;     // open links that lead out of the path
    struct storage_settings storage;
    bool show_help;
};

// Reads `arguments` (they must outlive the options). False: `problem` is one sentence.
bool watch_options_parse(int count, char *const arguments[], struct watch_options *options,
                         char problem[OPTIONS_PROBLEM_BYTES]);

// The text of --help.
const char *watch_options_help(void);
