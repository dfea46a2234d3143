// The fields of a row, told once: JSON objects, JSON columns and CSV rows are written from the same table.
//
//     struct op_total { struct bytes op;       static const struct field op_fields[] = {
//                       uint64_t frees; }          FIELD("op", struct op_total, op),
//                                                  FIELD("frees", struct op_total, frees),
//                                                  FIELD_END};
//
//     fields_write            "op":"MatMul","frees":2        one row
//     fields_write_columns    "op":[1,2],"frees":[2,0]       many; texts as indexes into a string table, or in place
//     fields_write_csv        MatMul,2
//
// A table says how a field is called and where it stands in the row's struct; its kind follows from the type there.
// What a row type has to be worked out for (a name, a share) is worked out into a struct first. Rows are an array of
// structs `row_size` bytes apart, so a table serves also a struct that the row is a part of. No state, no memory.
#pragma once

#include <stddef.h>

#include "server/text/csv_row.h"
#include "server/text/json_writer.h"

enum field_kind {
    FIELD_INT32,
    FIELD_INT64,
    FIELD_UINT32,
    FIELD_UINT64,
    FIELD_DOUBLE,
    FIELD_BOOL,
    FIELD_BYTES,    // struct bytes
    FIELD_TEXT,     // const char *; NULL is null
    FIELD_INDEX,    // uint32_t; UINT32_MAX, the index of nothing, is -1
    FIELD_KNOWN,    // int64_t; below zero is null
    FIELD_ADDRESS,  // uint64_t as text, "0x7f00"
};

struct field {
    const char *name;  // NULL after the last one
    enum field_kind kind;
    size_t offset;    // of the value in the row
    size_t is_known;  // of a bool in the row that says whether there is a value, else null; FIELD_ALWAYS
    bool grows;       // mostly, from row to row: a whole number that a column may tell as differences
};

#define FIELD_ALWAYS SIZE_MAX
#define FIELD_END                                                                                                      \
    { NULL, FIELD_INT64, 0, FIELD_ALWAYS, false }

#define FIELD_KIND_OF(value)                                                                                           \
    _Generic((value),               \
        int32_t: FIELD_INT32,       \
        int64_t: FIELD_INT64,       \
        uint32_t: FIELD_UINT32,     \
        uint64_t: FIELD_UINT64,     \
        double: FIELD_DOUBLE,       \
        bool: FIELD_BOOL,           \
        struct bytes: FIELD_BYTES,  \
        const char *: FIELD_TEXT)

#define FIELD_AS(name, row, member, kind)                                                                              \
    { (name), (kind), offsetof(row, member), FIELD_ALWAYS, false }
#define FIELD(name, row, member) FIELD_AS(name, row, member, FIELD_KIND_OF(((row *)0)->member))
#define FIELD_IF(name, row, member, known)                                                                             \
    { (name), FIELD_KIND_OF(((row *)0)->member), offsetof(row, member), offsetof(row, known), false }
#define FIELD_GROWING(name, row, member)                                                                               \
    { (name), FIELD_KIND_OF(((row *)0)->member), offsetof(row, member), FIELD_ALWAYS, true }

// Keys of an open object.
void fields_write(struct json_writer *w, const struct field *fields, const void *row);

// An object, null where the row is NULL; the same under a key; an array of objects under a key.
void fields_write_object(struct json_writer *w, const struct field *fields, const void *row);
void fields_write_object_key(struct json_writer *w, const char *key, const struct field *fields, const void *row);
void fields_write_objects_key(struct json_writer *w, const char *key, const struct field *fields, const void *rows,
                              size_t row_count, size_t row_size);

// Columns as keys of an open object. Texts become indexes into `strings`; NULL: they stand in the column themselves.
void fields_write_columns(struct json_writer *w, const struct field *fields, const void *rows, size_t row_count,
                          size_t row_size, struct string_table *strings);

// The same for int64_t and uint32_t alone; with `as_differences` those that grow tell what they differ from the row
// before (the first from 0), which packs to half. Which ones: an array of names under a key.
void fields_write_number_columns(struct json_writer *w, const struct field *fields, const void *rows, size_t row_count,
                                 size_t row_size, bool as_differences);
void fields_write_growing_key(struct json_writer *w, const char *key, const struct field *fields);

// Puts the texts of all rows into `strings`, row by row: for a table that is written before the columns.
void fields_put_strings(const struct field *fields, const void *rows, size_t row_count, size_t row_size,
                        struct string_table *strings);

// The fields of one row (texts and whole numbers) as the next cells of a CSV row, and their names for its header. What
// is null is empty.
void fields_write_csv(struct csv_row *csv, const struct field *fields, const void *row);
void fields_write_csv_names(struct csv_row *csv, const struct field *fields);
