// The one pass over the events of a host plane, by two threads where it is long: each reads a run of lines.
//
//     lines   | 0 | 1 ........ | 2 ......... | 3 | 4 |
//     parts   \____ part 0 ____/\_____ part 1 _____/      then part 1 takes the numbers of part 0
//
// All that is needed only while reading stands here and goes with profile_reader_release. A .gz is read by one thread,
// because its content comes in order.
#pragma once

#include "analysis/profile/profile_part.h"

struct profile_reader {
    struct byte_source *source;
    struct arena *arena;  // of the profile: texts, threads
    struct arena scratch;
    struct profile_plane plane;
    struct profile_part parts[MEMORY_COLUMNS_MAX_PARTS];
    struct arena part_arenas[MEMORY_COLUMNS_MAX_PARTS];  // the first is not used: that part takes `arena`
    struct byte_source *part_sources[MEMORY_COLUMNS_MAX_PARTS];
    size_t part_count;
    uint32_t first_node[MEMORY_COLUMNS_MAX_PARTS];  // of each part, in the graph of part 0
};

void profile_reader_init(struct profile_reader *reader, struct byte_source *source, struct arena *arena);
void profile_reader_release(struct profile_reader *reader);

// Reads the plane's names. False, *error filled: no memory, or the plane is damaged (then its whole part can be read).
MUST_USE bool profile_reader_open(struct profile_reader *reader, uint64_t offset, uint64_t size, struct error *error);

// Whether the plane names memory events at all.
bool profile_reader_has_memory_events(const struct profile_reader *reader);

// Reads all lines; afterwards part 0 has everything but the rows and nodes' numbers of part 1. False: *error is the
// first fault or a limit; what stands before it has been read.
MUST_USE bool profile_reader_read_lines(struct profile_reader *reader, struct error *error);
