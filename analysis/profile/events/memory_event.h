// One MemoryAllocation or MemoryDeallocation: its stats by name, as XProf reads them (GenerateMemoryProfile in
// xprof/convert/xplane_to_memory_profile.cc of openxla/xprof, at 26fa5aac): of two memory ids in one event the last
// counts, and texts are given inline or as references to names of stats.
#pragma once

#include "analysis/profile/events/memory_columns.h"
#include "analysis/profile/events/host_stat.h"
#include "analysis/profile/events/site_table.h"

struct memory_event {
    struct memory_row row;  // without site, thread, timeline
    struct site_key site;
    uint32_t memory_id;  // number of its text
};

// Where the texts of events go.
struct event_texts {
    const struct metadata_names *names;  // what references mean
    uint32_t *number_of_name;            // by index of the name; ID_MAP_NONE: not asked for yet
    struct string_table *texts;
    struct arena *arena;  // holds the texts
};

// False when there is no memory for its texts.
bool memory_event_read(const struct host_event *event, const struct metadata_kinds *kinds, struct event_texts *texts,
                       struct memory_event *read);
