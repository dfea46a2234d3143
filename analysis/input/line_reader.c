#include "analysis/input/line_reader.h"

bool line_reader_init(struct line_reader *reader, struct byte_source *source, struct arena *arena) {
    *reader = (struct line_reader){.source = source};
    reader->window = arena_push_raw(arena, LINE_READER_WINDOW_BYTES + LINE_READER_SLACK_BYTES, 1);
    if (reader->window) memset(reader->window + LINE_READER_WINDOW_BYTES, 0, LINE_READER_SLACK_BYTES);
    return reader->window != NULL;
}

// What of the window is the message's, from `at` on: nothing when `at` lies elsewhere.
static void look_at(struct line_reader *reader, uint64_t at) {
    uint64_t filled_end = reader->window_offset + reader->filled;
    bool is_inside = at >= reader->window_offset && at < filled_end;
    reader->view_end = !is_inside ? at : filled_end < reader->end ? filled_end : reader->end;
    const uint8_t *from = reader->window + (is_inside ? at - reader->window_offset : 0);
    reader->view = (struct wire){.at = from, .end = from + (reader->view_end - at)};
}

void line_reader_open(struct line_reader *reader, uint64_t offset, uint64_t size) {
    reader->end = offset + size;
    reader->refill_bytes = LINE_READER_FIRST_BYTES;
    look_at(reader, offset);
}

static uint64_t bytes_left(const struct line_reader *reader) {
    return reader->end - line_reader_at(reader);
}

static bool refill(struct line_reader *reader, struct error *error) {
    uint64_t at = line_reader_at(reader), left = bytes_left(reader), reached;
    size_t size = left < reader->refill_bytes ? (size_t)left : reader->refill_bytes;
    reader->refill_bytes = LINE_READER_WINDOW_BYTES;
    if (!byte_source_reach(reader->source, at + size, &reached, error)) return false;
    if (reached > at && reached < at + size) size = (size_t)(reached - at);
    reader->filled = 0;
    if (!byte_source_read(reader->source, at, reader->window, size, error)) return false;
    reader->window_offset = at;
    reader->filled = size;
    look_at(reader, at);
    return true;
}

// Key and length of the next field: true when it is a LEN field, whose payload may lie beyond the window.
static bool read_length(struct wire w, uint32_t *number, size_t *head_size, uint64_t *size) {
    const uint8_t *head = w.at;
    uint64_t key;
    if (!wire_next_varint(&w, &key) || (key & 7) != WIRE_LEN || !wire_next_varint(&w, size)) return false;
    *number = (uint32_t)(key >> 3);
    *head_size = (size_t)(w.at - head);
    return true;
}

static enum line_reader_step fail(struct line_reader *reader, const char *fault, struct error *error) {
    error_in(error, ERROR_MALFORMED, byte_source_path(reader->source), (int64_t)line_reader_at(reader),
             "expected the next field of an XLine: %s", fault);
    return LINE_READER_ERROR;
}

static enum line_reader_step step_over(struct line_reader *reader, uint32_t number, uint64_t whole,
                                       struct wire_field *field) {
    *field = (struct wire_field){.number = number, .type = WIRE_LEN};
    look_at(reader, line_reader_at(reader) + whole);
    return LINE_READER_TOO_LONG;
}

static size_t bytes_in_view(const struct line_reader *reader) {
    return (size_t)(reader->view.end - reader->view.at);
}

enum line_reader_step line_reader_next_any(struct line_reader *reader, struct wire_field *field, struct error *error) {
    uint32_t number;
    size_t head_size;
    uint64_t size, left = bytes_left(reader);
    if (left == 0) return LINE_READER_END;
    if (bytes_in_view(reader) < LINE_READER_LONGEST_HEAD_BYTES && bytes_in_view(reader) < left &&
        !refill(reader, error))
        return LINE_READER_ERROR;
    if (read_length(reader->view, &number, &head_size, &size)) {
        if (size > left - head_size) return fail(reader, "its length runs past the line", error);
        if (size > LINE_READER_WINDOW_BYTES - head_size) return step_over(reader, number, head_size + size, field);
        if (size > bytes_in_view(reader) - head_size && !refill(reader, error)) return LINE_READER_ERROR;
    }
    if (wire_next(&reader->view, field)) return LINE_READER_FIELD;
    return fail(reader, reader->view.fault ? reader->view.fault : "it is cut", error);
}
