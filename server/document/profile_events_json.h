// Events of one memory, one row each, in columns: what /api/v1/memory_profile/events and its like answer (docs/api.md).
//
//     make ──> take each event that is meant, in order ──> write: the page [offset, offset + limit) of them
#pragma once

#include "analysis/profile/questions/timeline_replay.h"
#include "server/text/json_writer.h"

struct profile_event_list {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    int64_t offset, limit;
    int64_t total;  // of those taken
    uint32_t *rows;
    struct timeline_difference *differences;  // of each of them
    size_t count;                             // on the page
};

// An empty list with room for a page on `arena`. False when that is at its limit.
MUST_USE bool profile_event_list_make(const struct memory_profile *profile, const struct memory_timeline *timeline,
                                      int64_t offset, int64_t limit, struct arena *arena,
                                      struct profile_event_list *list);

// Counts the event, and keeps it when it is on the page. False: it is not.
bool profile_event_list_take(struct profile_event_list *list, uint32_t row, struct timeline_difference difference);

// Keys of an open object: the columns and their "strings". False when `scratch` is at its limit.
MUST_USE bool profile_events_write(const struct profile_event_list *list, struct arena *scratch, struct json_writer *w,
                                   struct error *error);
