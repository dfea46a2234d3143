// One memory, taken apart: figures, what filled it at its peak, what grows, whether requests had room, notes.
#pragma once

#include "server/command/report_profile_data.h"

// The memory must have been looked at. `others` says whether there are more sessions than its own.
void report_profile_details_write(struct report_profile_memory *memory, bool others, struct page *page);

// "201.010 ms"; on `arena`, never NULL.
const char *report_profile_time(int64_t time_ps, struct arena *arena);
