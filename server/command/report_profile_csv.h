// The peaks of memory over time as CSV: one row for each allocation site that is alive at the peak of a memory, and
// rows for what is not among them, so that total_bytes of a memory sum to its heap.
//
//     kind          allocations   what the profile saw allocated and not yet freed
//                   left_out      more of these, past --top
//                   unexplained   the rest of the heap: allocated before the profile began, or unseen
#pragma once

#include "server/command/report_profile_data.h"

void report_profile_csv_write(struct report_profile *p);
