// Where a buffer comes from and which part of a training step it belongs to, as keys of an open object: the end of the
// document of /api/v1/buffer (docs/api.md). What its own operation does not tell is told by one that it computes from
// or feeds, and `source_from` says which.
#pragma once

#include "analysis/groups/buffer_phases.h"
#include "server/text/json_writer.h"

struct buffer_origins {  // of one view
    struct buffer_sources sources;
    struct buffer_phases phases;
    struct arena *arena;
};

// False: *error is filled.
MUST_USE bool buffer_origins_read(const struct memory_view *view, struct arena *arena, struct buffer_origins *origins,
                                  struct error *error);

// `row` is of the view, or stands for a buffer that the view does not show.
void buffer_origin_json_write(const struct buffer_origins *origins, const struct memory_buffer *row,
                              struct json_writer *w);
