// The report in its formats: `hbmview report PATH [...]`, what the page says, for terminals and scripts.
//
//     PATH -> report_inventory -> programs -> report_data -> text, markdown     report_text, text/page, table
//             names only                      one module     json               report_json
//                                             at a time      csv                report_csv
//
//     --tool memory_profile: PATH -> sessions, hosts -> report_profile_data, one file at a time -> report_profile_*
//
// Everything that can be read is printed; what cannot is said on stderr (and under "errors" in JSON), and the exit
// status tells. Modules are loaded one at a time, so memory does not grow with their number.
#pragma once

#include "server/command/report_device_memory.h"
#include "server/command/report_data.h"
#include "server/command/report_profile_data.h"

// A table of all modules, then the biggest one in detail; as text or as Markdown.
void report_text_write(struct report *report, const struct report_inventory *inventory);
void report_json_write(struct report *report, const struct report_inventory *inventory,
                       const struct report_device_memory *device_memory);
void report_csv_write(
    struct report *report,
    const struct report_inventory *inventory);  // RFC 4180, lines end in LF: one row for each buffer at a peak

// A table of all memories, then those of the one session in detail; of several sessions the memory with the highest
// peak.
void report_profile_text_write(struct report_profile *p);
void report_profile_json_write(struct report_profile *p);

// One memory that was looked at, taken apart: figures, what filled it at its peak, what grows, whether requests had
// room, notes. `others` says whether there are more sessions than its own.
void report_profile_details_write(struct report_profile_memory *memory, bool others, struct page *page);

// "201.010 ms"; on `arena`, never NULL.
const char *report_profile_time(int64_t time_ps, struct arena *arena);

// One row for each allocation site that is alive at the peak of a memory, and rows for what is not among them, so that
// total_bytes of a memory sum to its heap:
//
//     kind          allocations   what the profile saw allocated and not yet freed
//                   left_out      more of these, past --top
//                   unexplained   the rest of the heap: allocated before the profile began, or unseen
void report_profile_csv_write(struct report_profile *p);
