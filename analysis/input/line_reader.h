// The fields of a long message, one after another, through a moving window: the lines of a trace, whose events are far
// too many to load at once and far too many to ask the file for each.
//
//     file    [ ....| event | event | event | ev¦ent | ... ]
//     window        [===========================¦        ]   refilled from the field that does not fit
//
// A field's payload is a view into the window, valid until the next call, with LINE_READER_SLACK_BYTES readable bytes
// behind it. One reader serves many messages, so the window stays in the processor's cache.
#pragma once

#include "analysis/input/byte_source.h"
#include "proto/wire.h"

enum {
    LINE_READER_WINDOW_BYTES = 512 << 10,
    LINE_READER_SLACK_BYTES = 16,
    LINE_READER_LONGEST_HEAD_BYTES = 20,  // of a field: key and value or length, two varints
};

struct line_reader {
    struct byte_source *source;
    uint8_t *window;         // LINE_READER_WINDOW_BYTES and the slack
    uint64_t window_offset;  // of window[0] in the file
    size_t filled;
    uint64_t at, end;  // the next field, and where the message ends
};

enum line_reader_step {
    LINE_READER_FIELD,
    LINE_READER_TOO_LONG,  // a LEN field larger than the window was stepped over: no payload, only its number
    LINE_READER_END,
    LINE_READER_ERROR,
};

// The window is on `arena`. False when that is at its limit.
bool line_reader_init(struct line_reader *reader, struct byte_source *source, struct arena *arena);

// Starts on another message.
void line_reader_open(struct line_reader *reader, uint64_t offset, uint64_t size);

static inline uint64_t line_reader_left(const struct line_reader *reader) {
    return reader->end - reader->at;
}

// The bytes of the window from the next field on, none beyond the message.
static inline struct bytes line_reader_view(const struct line_reader *reader) {
    uint64_t skipped = reader->at - reader->window_offset;
    if (reader->at < reader->window_offset || skipped >= reader->filled) return (struct bytes){reader->window, 0};
    uint64_t size = reader->filled - skipped;
    return (struct bytes){reader->window + skipped,
                          (size_t)(size < line_reader_left(reader) ? size : line_reader_left(reader))};
}

// The careful half of line_reader_next: the field may not be in the window as a whole.
MUST_USE enum line_reader_step line_reader_next_any(struct line_reader *reader, struct wire_field *field,
                                                    struct error *error);

// Inline, because walking a trace's events is where the time of reading it goes.
MUST_USE static inline enum line_reader_step line_reader_next(struct line_reader *reader, struct wire_field *field,
                                                              struct error *error) {
    if (reader->at == reader->end) return LINE_READER_END;
    struct wire w = wire_open(line_reader_view(reader));
    if (w.end - w.at < LINE_READER_LONGEST_HEAD_BYTES || !wire_next(&w, field))
        return line_reader_next_any(reader, field, error);
    reader->at = reader->window_offset + (uint64_t)(w.at - reader->window);
    return LINE_READER_FIELD;
}
