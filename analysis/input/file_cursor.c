#include "analysis/input/file_cursor.h"

enum { LONGEST_VARINT_BYTES = 10, LONGEST_HEADER_BYTES = 2 * LONGEST_VARINT_BYTES, MAX_FIELD_NUMBER = 0x1fffffff };

// The first bytes of a field: key, and value or length.
struct header {
    struct wire wire;
    bool content_ended;  // the content ends inside these bytes
};

static bool fail(const struct file_cursor *cursor, enum error_code code, const char *expected, struct error *error) {
    return error_in(error, code, byte_source_path(cursor->source), (int64_t)cursor->at, "expected %s", expected);
}

// A field whose first bytes are incomplete: the file was cut there, or the message is wrong.
static bool fail_in_header(const struct file_cursor *cursor, const struct header *header, size_t room,
                           const char *expected, struct error *error) {
    bool ran_out = (size_t)(header->wire.end - header->wire.at) < room;
    if (ran_out && header->content_ended)
        return fail(cursor, ERROR_TRUNCATED, "a whole field, the file ends inside it", error);
    return fail(cursor, ERROR_MALFORMED, ran_out ? "a field that stays inside its message" : expected, error);
}

static bool cut(const struct file_cursor *cursor, struct file_field *field, uint64_t reached, struct error *error) {
    (void)error_in(error, ERROR_TRUNCATED, byte_source_path(cursor->source), (int64_t)cursor->at,
                   "a field of %llu bytes starts here, but the file ends after %llu of them",
                   (unsigned long long)field->payload_size, (unsigned long long)(reached - field->payload_offset));
    field->payload_size = reached - field->payload_offset;
    field->is_cut = true;
    return false;
}

bool file_cursor_skip(struct file_cursor *cursor, struct file_field *field, struct error *error) {
    uint64_t end, reached;
    if (__builtin_add_overflow(field->payload_offset, field->payload_size, &end)) end = UINT64_MAX;
    cursor->has_failed = true;
    if (end > cursor->end) return fail(cursor, ERROR_MALFORMED, "a length that stays inside its message", error);
    if (field->type == WIRE_LEN) {
        if (!byte_source_reach(cursor->source, end, &reached, error)) {
            field->payload_size = reached - field->payload_offset;
            field->is_cut = true;
            return false;
        }
        if (reached < end) return cut(cursor, field, reached, error);
    }
    cursor->at = end;
    cursor->has_failed = false;
    return true;
}

static uint64_t little_endian(const uint8_t *at, size_t size) {
    uint64_t result = 0;
    for (size_t i = 0; i < size; i++) result |= (uint64_t)at[i] << (8 * i);
    return result;
}

static bool read_fixed(const struct file_cursor *cursor, struct header *header, size_t size, struct file_field *field,
                       struct error *error) {
    if ((size_t)(header->wire.end - header->wire.at) < size) return fail_in_header(cursor, header, size, "", error);
    field->value = little_endian(header->wire.at, size);
    header->wire.at += size;
    return true;
}

static bool read_value(const struct file_cursor *cursor, struct header *header, struct file_field *field,
                       struct error *error) {
    uint64_t number;
    switch (field->type) {
        case WIRE_FIXED64:
            return read_fixed(cursor, header, 8, field, error);
        case WIRE_FIXED32:
            return read_fixed(cursor, header, 4, field, error);
        case WIRE_VARINT:
        case WIRE_LEN:
            break;
        default:
            return fail(cursor, ERROR_MALFORMED, "a wire type of 0, 1, 2 or 5", error);
    }
    if (!wire_next_varint(&header->wire, &number))
        return fail_in_header(cursor, header, LONGEST_VARINT_BYTES, "a varint of at most 10 bytes", error);
    if (field->type == WIRE_LEN)
        field->payload_size = number;
    else
        field->value = number;
    return true;
}

static bool read_field(const struct file_cursor *cursor, struct header *header, const uint8_t *start,
                       struct file_field *field, struct error *error) {
    uint64_t key;
    if (!wire_next_varint(&header->wire, &key))
        return fail_in_header(cursor, header, LONGEST_VARINT_BYTES, "a field key (varint)", error);
    if (key >> 3 == 0 || key >> 3 > MAX_FIELD_NUMBER)
        return fail(cursor, ERROR_MALFORMED, "a field number from 1 to 2^29-1", error);
    field->number = (uint32_t)(key >> 3);
    field->type = (enum wire_type)(key & 7);
    if (!read_value(cursor, header, field, error)) return false;
    field->payload_offset = cursor->at + (uint64_t)(header->wire.at - start);
    return true;
}

bool file_cursor_see(struct file_cursor *cursor, struct file_field *field, struct error *error) {
    uint64_t left = cursor->end - cursor->at;
    if (left == 0) return false;
    *field = (struct file_field){0};
    size_t asked = left < LONGEST_HEADER_BYTES ? (size_t)left : LONGEST_HEADER_BYTES;
    struct bytes view;
    bool is_good = byte_source_peek(cursor->source, cursor->at, asked, &view, error);
    if (is_good && view.size == 0 && cursor->end == UINT64_MAX) return false;
    struct header header = {wire_open(view), view.size < asked};
    cursor->has_failed = !is_good || !read_field(cursor, &header, view.data, field, error);
    return !cursor->has_failed;
}

bool file_cursor_next(struct file_cursor *cursor, struct file_field *field, struct error *error) {
    return file_cursor_see(cursor, field, error) && file_cursor_skip(cursor, field, error);
}
