// The sessions of a PATH that the options ask for, by name: no file of them is opened.
//
//     catalog ──> sessions and those still being written, newest first ──> --session
//
// Everything is on the caller's arena.
#pragma once

#include "analysis/input/catalog.h"
#include "server/command/report_errors.h"
#include "server/command/report_options.h"

struct report_sessions {
    struct catalog catalog;
    struct catalog_session *items;
    size_t count;
};

// False: the error is among the report's.
MUST_USE bool report_sessions_find(const struct report_options *options, struct arena *arena,
                                   struct report_sessions *sessions, struct report_errors *errors);

// Says what the scan passed over, and that nothing was found where nothing was.
void report_sessions_tell_missing(const struct report_options *options, const struct report_sessions *sessions,
                                  struct arena *arena, struct report_errors *errors);
