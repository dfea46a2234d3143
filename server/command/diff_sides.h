// The two programs of a comparison, each found in its path and loaded.
//
//     A  path -> report_inventory -> the one that is asked for, else the largest -> module, sources
//     B  the same                 -> ... else the one called as A's               -> module, sources
//
// Each side is a report of its own, with its errors. A side that was begun is ended in either case.
#pragma once

#include "server/command/diff_options.h"
#include "server/command/report_overview.h"

struct diff_side {
    struct report report;
    struct report_inventory inventory;
    struct report_overview_row row;  // of the program; NULL for none
    struct report_module module;
    struct buffer_sources sources;
};

// False: the errors of the report, or stderr, say why.
MUST_USE bool diff_side_begin(const struct diff_options *options, const struct diff_side_options *of,
                              struct diff_side *side);

// Which program. `like` is the side it is compared with, or NULL. False, with its exit code: there is none, or which
// one is meant cannot be told.
MUST_USE bool diff_side_choose(struct diff_side *side, const struct diff_side *like, enum exit_code *code);

// Loads the program. False: the error is among the report's.
MUST_USE bool diff_side_load(struct diff_side *side);
