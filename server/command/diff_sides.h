// The two programs of a comparison, each found in its path and loaded.
//
//     A  path -> report_inventory -> programs -->|
//                                                | which two are meant (diff_programs.h) --> module, sources of each
//     B  path -> report_inventory -> programs -->|
//
// Each side is a report of its own, with its errors. A side that was begun is ended in either case.
#pragma once

#include "server/command/diff_options.h"
#include "server/command/diff_programs.h"

struct diff_side {
    struct report report;
    struct report_inventory inventory;
    struct diff_programs programs;
    struct report_overview_row row;  // of the program that is meant
    struct report_module module;
    struct buffer_sources sources;
};

// False: the errors of the report, or stderr, say why.
MUST_USE bool diff_side_begin(const struct diff_options *options, const struct diff_side_options *of,
                              struct progress *progress, struct diff_side *side);

// The programs of a path. False, with its exit code: there is none, or which session is meant cannot be told.
MUST_USE bool diff_side_read(struct diff_side *side, enum exit_code *code);

// Which two programs are meant, and what else there is. The pairs live on A's arena. False, with its exit code: none
// can be read, or there is no memory.
MUST_USE bool diff_sides_choose(struct diff_side *a, struct diff_side *b, struct diff_pairs *pairs,
                                enum exit_code *code);

// Loads the program. False: the error is among the report's.
MUST_USE bool diff_side_load(struct diff_side *side);
