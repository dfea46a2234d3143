// The table of modules: for each, one memory space with its peak and its total; and one of them taken apart.
//
// Hosts of a pod that compiled one program differently (module_list.h) have one line, that of the largest; what the
// variants are stands below the table.
//
// Which space: the one asked for; else HBM where the module keeps anything there, else the one with the highest peak.
#pragma once

#include "server/command/report_data.h"

struct report_overview_row {
    const struct report_program *program;
    bool has_space;   // false: it holds nothing in the memory space asked for, or in any
    bool has_failed;  // ... or that is not known: the report's errors say why
    int64_t space, peak_bytes, total_bytes;
    bool is_variant;                            // of a row above
    const struct report_overview_row *variant;  // the next one of the same program; NULL: none
};

// The row of one program, which is loaded and dropped for it. What cannot be read is among the report's errors.
struct report_overview_row report_overview_look(struct report *report, const struct report_program *program);

// The memory space of one row: its categories, and the largest buffers at the peak. `others` says whether there are
// more modules than this one. A failure is among the report's errors.
void report_details_write(struct report *report, const struct report_overview_row *row, bool others, struct page *page);
