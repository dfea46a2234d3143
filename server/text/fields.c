#include "server/text/fields.h"

#include <inttypes.h>
#include <stdio.h>

// --- Values ---

static bool is_text(const struct field *field) {
    return field->kind == FIELD_BYTES || field->kind == FIELD_TEXT;
}

static struct bytes text_of(const struct field *field, const void *at) {
    const char *text = field->kind == FIELD_TEXT ? *(const char *const *)at : NULL;
    if (field->kind == FIELD_TEXT) return text ? bytes_of(text) : (struct bytes){0};
    return *(const struct bytes *)at;
}

// Of the kinds that are whole numbers.
static int64_t number_of(const struct field *field, const void *at) {
    if (field->kind == FIELD_INT32) return *(const int32_t *)at;
    if (field->kind == FIELD_UINT32) return *(const uint32_t *)at;
    if (field->kind != FIELD_INDEX) return *(const int64_t *)at;
    uint32_t index = *(const uint32_t *)at;
    return index == UINT32_MAX ? -1 : (int64_t)index;
}

static bool is_null(const struct field *field, const void *row, const void *at) {
    if (field->is_known != FIELD_ALWAYS && !((const bool *)row)[field->is_known]) return true;
    if (field->kind == FIELD_TEXT) return !*(const char *const *)at;
    return field->kind == FIELD_KNOWN && *(const int64_t *)at < 0;
}

static const void *place_of(const struct field *field, const void *row) {
    return (const char *)row + field->offset;
}

static void write_address(struct json_writer *w, uint64_t address) {
    char text[24];
    snprintf(text, sizeof text, "0x%" PRIx64, address);
    json_write_text(w, text);
}

static void write_value(struct json_writer *w, const struct field *field, const void *row) {
    const void *at = place_of(field, row);
    if (is_null(field, row, at)) {
        json_write_null(w);
        return;
    }
    switch (field->kind) {
        case FIELD_BYTES:
        case FIELD_TEXT:
            json_write_string(w, text_of(field, at));
            break;
        case FIELD_BOOL:
            json_write_bool(w, *(const bool *)at);
            break;
        case FIELD_DOUBLE:
            json_write_double(w, *(const double *)at);
            break;
        case FIELD_UINT64:
            json_write_uint64(w, *(const uint64_t *)at);
            break;
        case FIELD_ADDRESS:
            write_address(w, *(const uint64_t *)at);
            break;
        case FIELD_INT32:
        case FIELD_INT64:
        case FIELD_UINT32:
        case FIELD_INDEX:
        case FIELD_KNOWN:
            json_write_int64(w, number_of(field, at));
            break;
    }
}

// --- Objects ---

void fields_write(struct json_writer *w, const struct field *fields, const void *row) {
    for (const struct field *field = fields; field->name; field++) {
        json_key(w, field->name);
        write_value(w, field, row);
    }
}

void fields_write_object(struct json_writer *w, const struct field *fields, const void *row) {
    if (!row) {
        json_write_null(w);
        return;
    }
    json_open_object(w);
    fields_write(w, fields, row);
    json_close_object(w);
}

void fields_write_object_key(struct json_writer *w, const char *key, const struct field *fields, const void *row) {
    json_key(w, key);
    fields_write_object(w, fields, row);
}

void fields_write_objects_key(struct json_writer *w, const char *key, const struct field *fields, const void *rows,
                              size_t row_count, size_t row_size) {
    json_open_array_key(w, key);
    for (size_t i = 0; i < row_count; i++) fields_write_object(w, fields, (const char *)rows + i * row_size);
    json_close_array(w);
}

// --- Columns ---

static bool is_bulk(const struct field *field) {
    return field->is_known == FIELD_ALWAYS && (field->kind == FIELD_INT64 || field->kind == FIELD_UINT32);
}

static void write_bulk(struct json_writer *w, const struct field *field, const void *rows, size_t row_count,
                       size_t row_size, bool as_differences) {
    struct json_column column = {place_of(field, rows), field->kind == FIELD_INT64, row_count, row_size,
                                 as_differences && field->grows};
    json_write_column(w, field->name, column);
}

void fields_write_columns(struct json_writer *w, const struct field *fields, const void *rows, size_t row_count,
                          size_t row_size, struct string_table *strings) {
    for (const struct field *field = fields; field->name; field++) {
        bool is_index = is_text(field) && strings;
        const char *row = rows;
        if (is_bulk(field)) {
            write_bulk(w, field, rows, row_count, row_size, false);
            continue;
        }
        json_key(w, field->name);
        json_open_array(w);
        for (size_t i = 0; i < row_count; i++, row += row_size) {
            if (is_index)
                json_write_int64(w, string_table_put(strings, text_of(field, place_of(field, row))));
            else
                write_value(w, field, row);
        }
        json_close_array(w);
    }
}

void fields_write_number_columns(struct json_writer *w, const struct field *fields, const void *rows, size_t row_count,
                                 size_t row_size, bool as_differences) {
    for (const struct field *field = fields; field->name; field++)
        write_bulk(w, field, rows, row_count, row_size, as_differences);
}

void fields_write_growing_key(struct json_writer *w, const char *key, const struct field *fields) {
    json_open_array_key(w, key);
    for (const struct field *field = fields; field->name; field++) {
        if (field->grows) json_write_text(w, field->name);
    }
    json_close_array(w);
}

void fields_put_strings(const struct field *fields, const void *rows, size_t row_count, size_t row_size,
                        struct string_table *strings) {
    for (size_t i = 0; i < row_count; i++) {
        const void *row = (const char *)rows + i * row_size;
        for (const struct field *field = fields; field->name; field++) {
            if (is_text(field)) string_table_put(strings, text_of(field, place_of(field, row)));
        }
    }
}

// --- CSV ---

static void put_cell(struct csv_row *csv, const struct field *field, const void *row) {
    const void *at = place_of(field, row);
    char digits[24];
    if (is_null(field, row, at)) {
        csv_put_text(csv, (struct bytes){0});
    } else if (is_text(field)) {
        csv_put_text(csv, text_of(field, at));
    } else if (field->kind == FIELD_UINT64) {
        snprintf(digits, sizeof digits, "%" PRIu64, *(const uint64_t *)at);
        csv_put_text(csv, bytes_of(digits));
    } else {
        csv_put_number(csv, number_of(field, at));
    }
}

void fields_write_csv(struct csv_row *csv, const struct field *fields, const void *row) {
    for (const struct field *field = fields; field->name; field++) put_cell(csv, field, row);
}

void fields_write_csv_names(struct csv_row *csv, const struct field *fields) {
    for (const struct field *field = fields; field->name; field++) csv_put_text(csv, bytes_of(field->name));
}
