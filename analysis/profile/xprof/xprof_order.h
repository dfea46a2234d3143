// The events of one memory in the order in which XProf goes through them, with the steps and the matching of frees that
// this order brings about.
//
//     rows (true time)        0   1   2   3         line A starts 10 ps before line B, so XProf, which compares each
//     line                    A   B   A   B         event's offset in its own line, goes through them otherwise:
//     offset in its line      5   1  22   9
//     places                  1   0   3   2     ->  rows[] = 1 0 3 2
//
// Where all lines start together, and no address was allocated twice without a free between, all of this is what the
// timeline has already, and nothing is built.
//
// Rules from xprof/convert/xplane_to_memory_profile.cc (openxla/xprof at 26fa5aac). Among events with the same offset
// XProf's sort leaves the order open; here it is the file's.
#pragma once

#include "analysis/profile/memory_profile.h"

struct xprof_order {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    const uint32_t *rows;        // the row at each place; NULL: places are rows
    const int64_t *step;         // of each row
    const uint32_t *allocation;  // of each row that is a free: the allocation XProf takes for it; MEMORY_EVENT_NONE
};

// What is built is on `arena`. False: ERROR_TOO_BIG.
MUST_USE bool xprof_order_build(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                struct arena *arena, struct xprof_order *order, struct error *error);

static inline uint32_t xprof_order_row(const struct xprof_order *order, uint32_t place) {
    return order->rows ? order->rows[place] : place;
}

// XProf's time of an event: since its own line started.
int64_t xprof_order_time_ps(const struct xprof_order *order, uint32_t row);

// Where the texts that XProf shows for an event stand: its own, or those of the allocation it freed.
const struct allocation_site *xprof_order_texts(const struct xprof_order *order, uint32_t row);
