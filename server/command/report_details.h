// One memory space of one module, taken apart: its categories, and the largest buffers at the peak.
#pragma once

#include "server/command/report_overview.h"

// `others` says whether there are more modules than this one. A failure is among the report's errors.
void report_details_write(struct report *report, const struct report_overview_row *row, bool others, struct page *page);
