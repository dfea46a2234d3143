// The buffers of a program at its peak, merged as XProf's get_peak_allocations does.
//
//     maxHeap of XProf's memory_viewer --> below min_size_mib: "Others (< 1.0 MiB)"
//                                      --> name.1, name.2 of one size: "name.* (2 occurrences of size 3 MiB)"
//                                      --> the largest first, equal ones as they came
#pragma once

#include <jansson.h>

#include "analysis/base/arena.h"

struct xprof_merging {
    double min_size_mib;
    const char *min_size_text;  // as it was given
    bool is_on;                 // else every buffer is a row
};

// [{"instruction", "size_mib"}], for json_decref; NULL: no memory.
json_t *xprof_buffers(const json_t *max_heap, const struct xprof_merging *merging, struct arena *arena);
