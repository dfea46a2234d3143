// The compiler's own count of what a program's allocations take, from the memory-usage report of a dump.
//
//     proto    repeated 1 { 1 total bytes, 2 memory space (absent: 0), repeated 3 { allocations } }
//     text     Memory Space: vmem (color=1)
//              Total bytes: 4799488 (4.58MiB)
//
// Made by BufferAssignment's memory usage report (xla/service/buffer_assignment.cc in openxla/xla): the sum over all
// allocations of a space, thread-local ones included. So it is comparable with memory_totals.h to the byte, and is
// shown beside it. A space without allocations has no entry. Reads the totals only.
#pragma once

#include "analysis/memory/memory_totals.h"

struct usage_report_space {
    int64_t space, total_bytes;
};

struct usage_report {
    struct usage_report_space *spaces;  // in the order of the report
    size_t space_count;
};

// Errors carry the offset in `message`.
MUST_USE bool usage_report_of_proto(struct bytes message, struct arena *arena, struct usage_report *report,
                                    struct error *error);
MUST_USE bool usage_report_of_text(struct bytes text, struct arena *arena, struct usage_report *report,
                                   struct error *error);

struct usage_comparison {
    int64_t reported_bytes;    // 0 for a space that the report does not name
    int64_t difference_bytes;  // ours minus the compiler's
    bool agrees;
};

// `totals` is of one memory space.
struct usage_comparison usage_report_compare(const struct usage_report *report, const struct memory_totals *totals);
