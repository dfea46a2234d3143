// Who holds the memory of a space, in words: the largest groups, and over the whole program a small curve.
#pragma once

#include "server/command/report_data.h"
#include "server/text/page.h"

// The largest groups at the step that the options ask for. A failure is among the report's errors.
void report_groups_write(struct report *report, struct report_module *module, const struct memory_view *view,
                         struct page *page);

// What is live over program order, with the peak marked, where the report goes to a terminal.
void report_curve_write(const struct report *report, const struct memory_view *view, struct page *page);
