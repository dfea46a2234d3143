// A Memory Profile as XProf makes it, of one memory: the figures of its summary, at most 1000 sampled events for its
// chart, and the rows of its table.
//
//     events in XProf's order  . . A . . A F . . . F . . A . . .
//     boxes                    [     ] [     ] [       ] [     ]     as many as it samples, the later ones one wider
//     sampled                      A         F       F     A         of each box the first event with the most in use
//
// XProf's peak is the last of equal ones in the order of the file, its step that of the last of equal ones in the order
// of time, and its lifetime peak that of the last event in the file (see memory_file_order).
//
// Rules from xprof/convert/xplane_to_memory_profile.cc (openxla/xprof at 26fa5aac).
#pragma once

#include "analysis/profile/xprof/xprof_breakdown.h"

enum { XPROF_SAMPLES_MAX = 1000 };

struct xprof_profile {
    struct xprof_order order;
    int64_t lifetime_peak_bytes;
    uint32_t peak_row;  // MEMORY_EVENT_NONE when no event has 0 bytes in use or more: then all of the peak is 0
    int64_t peak_bytes, peak_time_ps, peak_step, capacity_bytes;
    uint32_t *sampled_rows;  // in XProf's order
    uint32_t sampled_count;
    struct xprof_breakdown breakdown;
};

// All that is built is on `arena`. False: ERROR_TOO_BIG.
MUST_USE bool xprof_profile_build(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                  struct arena *arena, struct xprof_profile *made, struct error *error);
