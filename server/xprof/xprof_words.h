// The words of XProf's JSON about one buffer: label, shape, source. Written the same for bars and for blocks.
#pragma once

#include "analysis/memory/buffer_description.h"
#include "server/text/json_writer.h"

// A "sourceInfo" that stands in the output already.
struct xprof_source {
    struct bytes file;
    int32_t line;
    struct json_part written;
};

// Rows are described once, though they stand in up to three lists; many come from one line, and where a line comes from
// is half of the reply, so each source is written out once and then copied.
struct xprof_words {
    struct buffer_describer describer;
    struct buffer_description *rows;            // of the view's rows
    struct xprof_source *last_source_of_frame;  // by stack frame id; 0 for none
};

// False when the arena is at its limit.
bool xprof_words_init(struct xprof_words *words, const struct memory_view *view, struct arena *arena);

// A key "sourceInfo" with its object; nothing when the source is unknown.
void xprof_write_source(struct xprof_words *words, const struct buffer_description *buffer, struct json_writer *w);

// "instruction: shape # op_name"
struct bytes xprof_label(const struct buffer_description *buffer, struct arena *arena);

// "Parameter", "Output", "Constant", "Temporary" or "Thread-local": XProf does not tell donated parameters apart.
const char *xprof_category(enum allocation_category category);

// Keys as protobuf's JSON has them: left out when the value is zero or empty.
void xprof_string_key(struct json_writer *w, const char *key, struct bytes text);
void xprof_int64_key(struct json_writer *w, const char *key, int64_t value);
void xprof_mib_key(struct json_writer *w, const char *key, int64_t bytes);
