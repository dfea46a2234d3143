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
    uint64_t ignored;    // what stats tell that are not asked for
};

// The stats that an event told, in their order. A profiler writes all events of a kind alike, so the next one is first
// read as the last one was laid out:
//
//     event     22 n 08 id key value | 22 n 08 id key value | ...
//     layout    ^^   ^^^^^^^^^       | ^^   ^^^^^^^^^       |          the same bytes say what it is
struct stat_place;
struct stat_layout {
    uint32_t count;
    uint8_t flags;  // memory_event_flag of every such event
    struct stat_step {
        uint64_t head, mask;  // the stat's first bytes as they stand in memory; the mask leaves out n
        const struct stat_place *place;
        uint16_t offset;          // in struct memory_event
        uint8_t head_size, type;  // stat_value_type
        uint8_t action;           // see memory_event.c
    } steps[24];
};

// What reading the events of one part of a plane needs, and where their texts go.
struct memory_event_reader {
    const struct metadata_kinds *stats;
    struct string_table *texts;
    struct arena *arena;            // holds the texts
    uint32_t *text_of_id;           // texts behind references, by dense id; ID_MAP_NONE: not asked for yet
    struct stat_layout layouts[2];  // of allocations, of frees
};

// `memory` holds the reader's own tables. False when that is at its limit.
bool memory_event_reader_init(struct memory_event_reader *reader, const struct metadata_kinds *stats,
                              struct string_table *texts, struct arena *arena, struct arena *memory);

// False when there is no memory for its texts.
bool memory_event_read(struct memory_event_reader *reader, const struct host_event *event, struct memory_event *read);
