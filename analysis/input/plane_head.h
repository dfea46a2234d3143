// An XPlane without its events: the names that its events and stats refer to, where its lines are, and where the stats
// of the plane itself.
//
//     XPlane [ name | line | line | ... | event_metadata {id: name}* | stat_metadata {id: name}* | stat* ]
//                     ^ offset, size: stepped over                                                ^ so are these
//
// Writers put the metadata after the lines that use it, so the whole plane is walked once, by lengths, before any
// event is read. Ids may be anything and in any order; the first entry of an id wins.
#pragma once

#include "analysis/base/id_map.h"
#include "analysis/input/file_cursor.h"

struct metadata_names {
    int64_t *ids;
    struct bytes *names;  // empty for a name over PLANE_NAME_MAX_BYTES
    uint32_t count;
    struct id_map by_id;  // id -> index
};

struct plane_line {
    uint64_t offset, size_bytes;
};

struct plane_head {
    struct metadata_names events, stats;
    struct plane_line *lines;
    uint32_t line_count;
    struct file_field *own_stats;
    uint32_t own_stat_count;
};

enum {
    PLANE_NAME_MAX_BYTES = 64 << 10,
    PLANE_MAX_NAMES = 1 << 22,
    PLANE_MAX_LINES = 1 << 20,
    PLANE_MAX_STATS = 1 << 16
};

// Reads the plane at `offset` onto `arena`. False: *error is the first fault, and *head still holds what stands before
// it. (The cut line of a cut file is listed with the size that is there.)
MUST_USE bool plane_head_read(struct byte_source *source, uint64_t offset, uint64_t size, struct arena *arena,
                              struct plane_head *head, struct error *error);

// The name of an id; empty when there is none.
struct bytes metadata_name(const struct metadata_names *names, int64_t id);

// Whether some id has this name.
bool metadata_has_name(const struct metadata_names *names, struct bytes name);
