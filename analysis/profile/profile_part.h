// A run of lines of the host plane, read by one thread: memory events become rows, all events take part in finding
// steps.
//
//     line --> event --> memory event --> text numbers --> site, timeline --> row
//                   \--> step graph ----> node of the row (in its step, until the graph has groups)
//
// Numbers (of texts, sites, timelines, nodes) are the part's own; profile_reader makes one of two parts.
#pragma once

#include "analysis/input/line_reader.h"
#include "analysis/profile/events/memory_columns.h"
#include "analysis/profile/events/memory_event.h"
#include "analysis/profile/events/site_table.h"
#include "analysis/profile/steps/step_graph.h"

// Limits against hostile files; passing one is ERROR_TOO_BIG.
enum { MEMORY_PROFILE_MAX_EVENTS = 1 << 25, MEMORY_PROFILE_MAX_TIMELINES = 1 << 12 };

// What all parts share. Threads are written by the part that reads their line.
struct profile_plane {
    struct plane_head head;
    struct metadata_kinds event_kinds, stat_kinds;
    bool is_grouped;                // events carry group_id: no graph
    bool has_no_steps;              // TensorFlow loop operations: XProf groups nothing
    bool keeps_executors;           // see step_graph.h
    struct memory_thread *threads;  // by line
    int64_t *thread_begin_ns;
};

// What XProf notes about a memory id while it reads (UpdateProfileSummary).
struct timeline_notes {
    uint32_t memory_id;  // number of the text
    int64_t peak_bytes;
    uint32_t peak_row, last_row;  // in file order; MEMORY_EVENT_NONE
};

struct profile_part {
    const struct profile_plane *plane;
    struct byte_source *source;
    struct arena *arena;   // texts and names
    struct arena scratch;  // the window, tables
    uint32_t first_line, end_line;
    struct memory_event_reader events;
    struct string_table texts;
    struct site_table sites;
    struct memory_rows rows;
    const uint32_t *site_of, *timeline_of;  // the numbers of the part this one was appended to; NULL: its own count
    struct growing_block timelines;         // struct timeline_notes
    uint32_t timeline_count;
    struct growing_block timeline_of_text;  // uint32, by number of the text
    uint32_t timeline_of_text_count;
    struct step_graph graph;
    uint32_t line;      // being read
    uint32_t max_rows;  // the part's share of MEMORY_PROFILE_MAX_EVENTS
    const char *limit;  // which limit was passed; NULL: memory's
    uint64_t other_event_count, left_out_count;
    struct error fault;  // the first; ERROR_TOO_BIG ends the part
};

// False when there is no memory. `arena` and `source` are the part's alone while it reads.
bool profile_part_init(struct profile_part *part, const struct profile_plane *plane, struct byte_source *source,
                       struct arena *arena, uint32_t first_line, uint32_t end_line);
void profile_part_release(struct profile_part *part);

void profile_part_read(struct profile_part *part);

// The part's number for a memory id. False when there is no memory, or at the limit.
bool profile_part_timeline(struct profile_part *part, uint32_t memory_id, uint32_t *timeline);

// Appends what `later` read to `part`, but for the rows: those keep their place and their numbers, which site_of and
// timeline_of (on `scratch`) translate.
// *first_node is what the nodes of `later` are counted from now.
bool profile_part_append(struct profile_part *part, struct profile_part *later, struct arena *scratch,
                         uint32_t *first_node);
