// Writes JSON front to back into an output: the one writer of every reply, so that escaping is right in one place.
//
//     json_open_object(w);                       {
//     json_key(w, "size");                       "size":
//     json_write_int64(w, 557056);               557056
//     json_write_string_key(w, "name", name);    ,"name":"fusion.1"
//     json_close_object(w);                      }
//
// Commas are the writer's. Strings may hold any bytes: what is not UTF-8 becomes U+FFFD, once for each maximal part of
// a broken sequence, as browsers do. Nesting is the caller's duty; nothing fails here (see output.h for the limit).
#pragma once

#include "analysis/base/string_table.h"
#include "server/text/output.h"

struct json_writer {
    struct output *output;
    bool needs_comma;
};

static inline struct json_writer json_writer_on(struct output *output) {
    return (struct json_writer){output, false};
}

void json_open_object(struct json_writer *w);
void json_close_object(struct json_writer *w);
void json_open_array(struct json_writer *w);
void json_close_array(struct json_writer *w);

void json_key(struct json_writer *w, const char *key);  // plain text of the program's own, written as it is
void json_end_key(struct json_writer *w);               // makes a key of the string that was written last
void json_write_null(struct json_writer *w);
void json_write_bool(struct json_writer *w, bool value);
void json_write_int64(struct json_writer *w, int64_t value);
void json_write_int64_text(struct json_writer *w, int64_t value);  // "7", as protobuf's JSON has an int64
void json_write_uint64(struct json_writer *w, uint64_t value);
void json_write_string(struct json_writer *w, struct bytes text);
void json_write_text(struct json_writer *w, const char *text);  // NULL is written as null

// bytes / 2^20 as XProf writes sizes, to the last digit: every such number has at most 20 decimal places.
void json_write_mib(struct json_writer *w, int64_t bytes);

// The shortest of %.15g, %.16g and %.17g that reads back as the same double; null for what JSON cannot say.
void json_write_double(struct json_writer *w, double value);

// A value that was written already, to write it again.
struct json_part {
    size_t offset, size;  // in the output
};
struct json_part json_part_begin(const struct json_writer *w);  // before the value
void json_part_end(const struct json_writer *w, struct json_part *part);
void json_write_again(struct json_writer *w, struct json_part part);

// Members that were written elsewhere, into the object that is open.
void json_write_members(struct json_writer *w, struct bytes members);

// A key with its value, or with the beginning of one.
void json_open_object_key(struct json_writer *w, const char *key);
void json_open_array_key(struct json_writer *w, const char *key);
void json_write_bool_key(struct json_writer *w, const char *key, bool value);
void json_write_int64_key(struct json_writer *w, const char *key, int64_t value);
void json_write_known_key(struct json_writer *w, const char *key, bool is_known, int64_t value);  // else null
void json_write_string_key(struct json_writer *w, const char *key, struct bytes text);
void json_write_text_key(struct json_writer *w, const char *key, const char *text);
void json_write_mib_key(struct json_writer *w, const char *key, int64_t bytes);

// A key with an array of texts.
void json_write_texts_key(struct json_writer *w, const char *key, const char *const *texts, size_t count);

// A key with a column: one number of each of `count` rows.
struct json_column {
    const void *first;  // int64_t when wide, else uint32_t; the next one `row_size` bytes further
    bool is_wide;
    size_t count, row_size;
    bool as_differences;  // each as what it differs from the one before (modulo 2^64), the first from 0
};
void json_write_column(struct json_writer *w, const char *key, struct json_column column);
void json_write_int64_column(struct json_writer *w, const char *key, const int64_t *values, size_t count);
void json_write_uint32_column(struct json_writer *w, const char *key, const uint32_t *values, size_t count);

// The texts whose numbers stand in columns: "strings": [...].
void string_table_write(const struct string_table *table, struct json_writer *w);
