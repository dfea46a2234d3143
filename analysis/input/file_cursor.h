// The wire cursor of proto/wire.h for messages that stay in a file: it walks the fields of a message by position,
// reading keys and lengths only, and steps over payloads (a plane of 400 MB costs one addition).
//
//     file   [..................|key len|~~~~~~ payload ~~~~~~|key len|~~~|.........]
//     cursor                    ^at                                        ^end
//     field                      number, type, value | payload: offset + size in the file
//
// Does not recurse, allocates nothing. Errors carry the file's byte offset and what was expected.
#pragma once

#include "analysis/input/byte_source.h"
#include "proto/wire.h"

struct file_cursor {
    struct byte_source *source;
    uint64_t at;
    uint64_t end;
    bool has_failed;
};

struct file_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;           // VARINT, FIXED64, FIXED32
    uint64_t payload_offset;  // LEN; of the others where the field ends
    uint64_t payload_size;    // LEN
    bool is_cut;              // only after an error, see below
};

// The whole content of a source, whose end need not be known: the cursor ends cleanly where the content ends between
// two fields; a field that runs past it is ERROR_TRUNCATED.
static inline struct file_cursor file_cursor_over(struct byte_source *source) {
    return (struct file_cursor){.source = source, .end = UINT64_MAX};
}

static inline struct file_cursor file_cursor_at(struct byte_source *source, uint64_t offset, uint64_t size) {
    return (struct file_cursor){.source = source, .at = offset, .end = offset + size};
}

static inline struct file_cursor file_cursor_inside(struct byte_source *source, const struct file_field *field) {
    return file_cursor_at(source, field->payload_offset, field->payload_size);
}

// Reads the next field. False at the end, and on a fault: then has_failed is set, *error filled, and the cursor stays
// where it is, at the start of the field at fault. A file that was cut can be read up
// to the cut: then field->is_cut says that the field's payload runs past the end of the content, and payload_size is
// what is there of it.
MUST_USE bool file_cursor_next(struct file_cursor *cursor, struct file_field *field, struct error *error);

// The same in two steps, for whoever judges a field before anything of its payload is read (or inflated): its key and
// its value or length, as they stand there, and then the step to what follows it.
MUST_USE bool file_cursor_see(struct file_cursor *cursor, struct file_field *field, struct error *error);
MUST_USE bool file_cursor_skip(struct file_cursor *cursor, struct file_field *field, struct error *error);
