// The report as CSV (RFC 4180, lines end in LF): a header, then one row for each buffer at a peak.
#pragma once

#include "server/command/report_data.h"

void report_csv_write(struct report *report);
