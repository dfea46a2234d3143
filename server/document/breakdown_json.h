// Who holds memory at one event (memory_breakdown.h), as the endpoint and the report tell it.
//
//     moment   row, time, step, heap ...                          breakdown_moment_write
//     rows     what an allocation site is, and what it holds      breakdown_fields, breakdown_when_fields
#pragma once

#include "analysis/profile/questions/memory_breakdown.h"
#include "server/text/fields.h"

struct breakdown_row {
    struct allocation_site site;
    const char *data_type;
    struct memory_breakdown_row held;
};

// Of struct breakdown_row: what is held; since which event and by which steps.
extern const struct field breakdown_fields[], breakdown_when_fields[];

// The first `count` rows. NULL when the arena is at its limit.
struct breakdown_row *breakdown_rows(const struct memory_profile *profile, const struct memory_breakdown *breakdown,
                                     uint32_t count, struct arena *arena);

// Keys of an open object: which event it is and how the heap is explained. With `tells_rest` also the allocator's other
// figures.
void breakdown_moment_write(const struct memory_timeline *timeline, const struct memory_breakdown *breakdown,
                            bool tells_rest, struct json_writer *w);
