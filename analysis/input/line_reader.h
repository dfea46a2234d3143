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
    LINE_READER_FIRST_BYTES = 16 << 10,  // of a message: whoever wants its name only pays for no more
    LINE_READER_SLACK_BYTES = 16,
    LINE_READER_LONGEST_HEAD_BYTES = 20,  // of a field: key and value or length, two varints
};

struct line_reader {
    struct byte_source *source;
    uint8_t *window;         // LINE_READER_WINDOW_BYTES and the slack
    uint64_t window_offset;  // of window[0] in the file
    size_t filled, refill_bytes;
    struct wire view;        // of the window, from the next field on, none of it beyond the message
    uint64_t view_end, end;  // where the view and the message end in the file
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

// Where the next field is in the file.
static inline uint64_t line_reader_at(const struct line_reader *reader) {
    return reader->view_end - (uint64_t)(reader->view.end - reader->view.at);
}

// The careful half of line_reader_next: the field may not be in the window as a whole.
MUST_USE enum line_reader_step line_reader_next_any(struct line_reader *reader, struct wire_field *field,
                                                    struct error *error);

// Inline, because walking a trace's events is where the time of reading it goes: LEN fields of short length.
MUST_USE static inline enum line_reader_step line_reader_next(struct line_reader *reader, struct wire_field *field,
                                                              struct error *error) {
    const uint8_t *at = reader->view.at, *end = reader->view.end;
    bool is_short = end - at >= LINE_READER_LONGEST_HEAD_BYTES;
    uint8_t key = is_short ? *at++ : 0;
    uint64_t size;
    if (key >= 0x80 || key < 8 || (key & 7) != WIRE_LEN || !wire_short_varint(&at, &size) ||
        size > (uint64_t)(end - at)) {
        struct wire_field any = {0};  // not *field: whose address is nowhere else stays in registers
        enum line_reader_step step = line_reader_next_any(reader, &any, error);
        *field = any;
        return step;
    }
    *field = (struct wire_field){key >> 3, WIRE_LEN, 0, {at, (size_t)size}};
    reader->view.at = at + size;
    return LINE_READER_FIELD;
}
