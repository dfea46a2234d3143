// XProf's table of what fills a memory at its peak.
//
//     events of the peak's step, up to the peak's time
//       |  allocations not freed among them, by address
//       |  + "unused preallocated device memory": what of the heap none of them explains
//       |  + "stack"
//       v
//     rows, large to small; allocations that agree in all that is shown are one row with its occurrences
//
// What was allocated in an earlier step is in the "unused" row, which is therefore mostly in use. For the truth see
// memory_profile.h; this is what XProf shows (ProcessActiveAllocations in xprof/convert/xplane_to_memory_profile.cc,
// openxla/xprof at 26fa5aac). Where XProf leaves open which allocation stands for a merged row, it is the first.
#pragma once

#include "analysis/profile/xprof/xprof_order.h"

#define XPROF_NOT_SPECIAL (-1)

enum { XPROF_SPECIAL_MAX = 2 };

// A row.
struct xprof_allocation {
    uint32_t row;     // of the timeline: the allocation that stands for it; MEMORY_EVENT_NONE for a special one
    int32_t special;  // index into the special allocations, or XPROF_NOT_SPECIAL
    uint32_t occurrences;
};

struct xprof_breakdown {
    struct xprof_allocation *allocations;
    uint32_t count;
    struct allocation_site specials[XPROF_SPECIAL_MAX];  // allocations that no event tells of
    uint32_t special_count;
};

// Where the peak is, as XProf has it.
struct xprof_peak_place {
    int64_t time_ps;
    int64_t step;
    int64_t heap_bytes, stack_bytes;
};

// False: ERROR_TOO_BIG.
MUST_USE bool xprof_breakdown_build(const struct xprof_order *order, const struct xprof_peak_place *peak,
                                    struct arena *arena, struct xprof_breakdown *breakdown, struct error *error);
