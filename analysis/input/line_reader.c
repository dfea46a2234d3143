#include "analysis/input/line_reader.h"

bool line_reader_init(struct line_reader *reader, struct byte_source *source, struct arena *arena) {
    *reader = (struct line_reader){.source = source};
    reader->window = arena_push_raw(arena, LINE_READER_WINDOW_BYTES + LINE_READER_SLACK_BYTES, 1);
    if (reader->window) memset(reader->window + LINE_READER_WINDOW_BYTES, 0, LINE_READER_SLACK_BYTES);
    return reader->window != NULL;
}

void line_reader_open(struct line_reader *reader, uint64_t offset, uint64_t size) {
    reader->at = offset;
    reader->end = offset + size;
}

static bool refill(struct line_reader *reader, struct error *error) {
    size_t size = line_reader_left(reader) < LINE_READER_WINDOW_BYTES ? (size_t)line_reader_left(reader)
                                                                      : LINE_READER_WINDOW_BYTES;
    uint64_t reached;
    if (!byte_source_reach(reader->source, reader->at + size, &reached, error)) return false;
    if (reached > reader->at && reached < reader->at + size) size = (size_t)(reached - reader->at);
    reader->filled = 0;
    if (!byte_source_read(reader->source, reader->at, reader->window, size, error)) return false;
    reader->window_offset = reader->at;
    reader->filled = size;
    return true;
}

// Key and length of the field at `head`: true when it is a LEN field, whose payload may lie beyond the window.
static bool read_length(struct bytes head, uint32_t *number, size_t *head_size, uint64_t *size) {
    struct wire w = wire_open(head);
    uint64_t key;
    if (!wire_next_varint(&w, &key) || (key & 7) != WIRE_LEN || !wire_next_varint(&w, size)) return false;
    *number = (uint32_t)(key >> 3);
    *head_size = (size_t)(w.at - head.data);
    return true;
}

static enum line_reader_step fail(struct line_reader *reader, const char *fault, struct error *error) {
    error_at(error, ERROR_MALFORMED, (int64_t)reader->at, "expected the next field of an XLine: %s", fault);
    error_in_file(error, byte_source_path(reader->source), 0);
    return LINE_READER_ERROR;
}

static enum line_reader_step take(struct line_reader *reader, struct bytes bytes, struct wire_field *field,
                                  struct error *error) {
    struct wire w = wire_open(bytes);
    if (!wire_next(&w, field)) return fail(reader, w.fault ? w.fault : "it is cut", error);
    reader->at += (uint64_t)(w.at - bytes.data);
    return LINE_READER_FIELD;
}

static enum line_reader_step step_over(struct line_reader *reader, uint32_t number, uint64_t whole,
                                       struct wire_field *field) {
    *field = (struct wire_field){.number = number, .type = WIRE_LEN};
    reader->at += whole;
    return LINE_READER_TOO_LONG;
}

enum line_reader_step line_reader_next_any(struct line_reader *reader, struct wire_field *field, struct error *error) {
    struct bytes bytes = line_reader_view(reader);
    uint32_t number;
    size_t head_size;
    uint64_t size;
    if (bytes.size < LINE_READER_LONGEST_HEAD_BYTES && bytes.size < line_reader_left(reader)) {
        if (!refill(reader, error)) return LINE_READER_ERROR;
        bytes = line_reader_view(reader);
    }
    if (!read_length(bytes, &number, &head_size, &size)) return take(reader, bytes, field, error);
    if (size > line_reader_left(reader) - head_size) return fail(reader, "its length runs past the line", error);
    if (size > LINE_READER_WINDOW_BYTES - head_size) return step_over(reader, number, head_size + size, field);
    if (size > bytes.size - head_size && !refill(reader, error)) return LINE_READER_ERROR;
    return take(reader, line_reader_view(reader), field, error);
}
