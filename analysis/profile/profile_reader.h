// The one pass over the events of a host plane: memory events become rows, all events take part in finding steps.
//
//     line --> event --> memory event --> text numbers --> site, timeline --> row of the columns
//                   \--> step graph ----> node of the row (in its step column, until the graph has groups)
//
// All that is needed only while reading stands here and goes with profile_reader_release.
#pragma once

#include "analysis/input/line_reader.h"
#include "analysis/profile/memory_columns.h"
#include "analysis/profile/memory_profile.h"
#include "analysis/profile/site_table.h"
#include "analysis/profile/step_graph.h"

// What XProf notes about a memory id while it reads (UpdateProfileSummary).
struct timeline_notes {
    uint32_t memory_id;  // number of the text
    int64_t peak_bytes;
    uint32_t peak_row, last_row;  // in file order; MEMORY_EVENT_NONE
};

struct profile_reader {
    struct byte_source *source;
    struct arena *arena;  // of the profile: texts, threads
    struct arena scratch;
    struct plane_head head;
    struct metadata_kinds event_kinds, stat_kinds;
    uint32_t *text_of_stat_name;  // texts behind references, by index of the name; INDEX_NONE: not yet
    struct text_table texts;
    struct site_table sites;
    struct memory_columns columns;
    struct growing_block timelines;  // struct timeline_notes
    uint32_t timeline_count;
    struct growing_block timeline_of_text;  // uint32, by number of the text
    uint32_t timeline_of_text_count;
    struct step_graph graph;
    bool is_grouped;    // events carry group_id: no graph
    bool has_no_steps;  // TensorFlow loop operations: XProf groups nothing
    struct memory_thread *threads;
    int64_t *thread_begin_ns;
    uint32_t thread_count;
    uint64_t other_event_count, left_out_count;
};

void profile_reader_init(struct profile_reader *reader, struct byte_source *source, struct arena *arena);
void profile_reader_release(struct profile_reader *reader);

// Reads the plane's names. False, *error filled: no memory, or the plane is damaged (then its whole part can be read).
MUST_USE bool profile_reader_open(struct profile_reader *reader, uint64_t offset, uint64_t size, struct error *error);

// Whether the plane names memory events at all.
bool profile_reader_has_memory_events(const struct profile_reader *reader);

// Reads all lines. False: *error is the first fault or a limit; what stands before it has been read.
MUST_USE bool profile_reader_read_lines(struct profile_reader *reader, struct error *error);
