// Events of one memory, one row each, in columns: what /api/v1/memory_profile/events and its like answer (docs/api.md).
#pragma once

#include "analysis/profile/questions/timeline_replay.h"
#include "server/text/json_writer.h"

struct profile_event_list {
    const struct memory_profile *profile;
    const struct memory_timeline *timeline;
    const uint32_t *rows;
    const struct timeline_difference *differences;  // of each of them
    size_t count;
};

// Keys of an open object: the columns and their "strings". False when `scratch` is at its limit.
MUST_USE bool profile_events_write(const struct profile_event_list *list, struct arena *scratch, struct json_writer *w,
                                   struct error *error);
