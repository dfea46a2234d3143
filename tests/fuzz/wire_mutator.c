// Changes of a protobuf message that leave it one: lengths fit again, whatever became of what they count.
//
//     0a 05 [ 08 01 12 01 61 ]      a field that is itself a message, changed inside: its length follows
//     -> another number, a field twice, without one, a copy of one from elsewhere, its bytes as libFuzzer changes them
//
// Linked into the targets that read protobuf (WIRE_FUZZ in the Makefile), where libFuzzer calls it instead of its own
// changes; one in four stays with those, so that broken messages come as well. Knows no schema: bytes that read as a
// message are taken for one. Nothing is kept between calls, and the same seed gives the same change.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/wire.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

enum { FIELDS_MAX = 1 << 15, DEPTH_MAX = 12, NUMBER_BYTES_MAX = 10, WORK_BYTES = 1 << 20 };

struct field {
    size_t begin, content, end;  // key, what follows key and length, first byte behind
    size_t parent;               // its place in the list; FIELDS_MAX: the message itself
    bool is_number;              // a varint
};

struct message {
    uint8_t *data;
    size_t size, room, count;
    struct field fields[FIELDS_MAX];
};

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

static bool read_number(const struct message *message, size_t *at, size_t end, uint64_t *value) {
    *value = 0;
    for (int shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = message->data[(*at)++];
        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

static size_t write_number(uint8_t *to, uint64_t value) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) to[size++] = (uint8_t)(value | 0x80);
    to[size++] = (uint8_t)value;
    return size;
}

// --- Reading ---

// The field at `at`; false: there is none whose end is within the message.
static bool read_field(const struct message *message, size_t at, size_t end, struct field *field) {
    uint64_t key, value = 0;
    *field = (struct field){.begin = at};
    if (!read_number(message, &at, end, &key) || key < 8) return false;
    field->content = at;
    field->is_number = (key & 7) == WIRE_VARINT;
    if ((key & 7) == WIRE_FIXED64 || (key & 7) == WIRE_FIXED32) {
        value = (key & 7) == WIRE_FIXED64 ? 8 : 4;
    } else {
        if (!field->is_number && (key & 7) != WIRE_LEN) return false;
        if (!read_number(message, &at, end, &value)) return false;
        if (field->is_number) value = 0;
        if (!field->is_number) field->content = at;
    }
    if (value > end - at) return false;
    field->end = at + (size_t)value;
    return true;
}

// Whether all of it reads as fields, at least one.
static bool is_message(const struct message *message, size_t at, size_t end) {
    struct field field;
    if (at == end) return false;
    for (; at < end; at = field.end) {
        if (!read_field(message, at, end, &field)) return false;
    }
    return true;
}

static bool is_of_length(const struct message *message, const struct field *field) {
    return (message->data[field->begin] & 7) == WIRE_LEN;
}

static void read_fields(struct message *message, size_t at, size_t end, size_t parent, int depth) {
    for (struct field field; at < end && message->count < FIELDS_MAX; at = field.end) {
        if (!read_field(message, at, end, &field)) return;
        size_t place = message->count++;
        field.parent = parent;
        message->fields[place] = field;
        if (depth < DEPTH_MAX && is_of_length(message, &field) && is_message(message, field.content, field.end))
            read_fields(message, field.content, field.end, place, depth + 1);
    }
}

// --- Writing ---

// Puts `size` bytes where begin..end are. False: there is no room.
static bool replace(struct message *message, size_t begin, size_t end, const uint8_t *with, size_t size) {
    if (message->size - (end - begin) + size > message->room) return false;
    memmove(message->data + begin + size, message->data + end, message->size - end);
    if (size) memcpy(message->data + begin, with, size);
    message->size = message->size - (end - begin) + size;
    return true;
}

// Writes the lengths of a field and of all around it anew, the innermost first: it is `change` bytes longer now.
static bool mend_lengths(struct message *message, size_t place, ptrdiff_t change) {
    for (; place != FIELDS_MAX; place = message->fields[place].parent) {
        uint8_t number[NUMBER_BYTES_MAX];
        struct field *field = &message->fields[place];
        size_t key_end = field->begin;
        uint64_t key;
        if (!read_number(message, &key_end, message->size, &key)) return false;
        size_t length = (size_t)((ptrdiff_t)(field->end - field->content) + change),
               size = write_number(number, length);
        change += (ptrdiff_t)size - (ptrdiff_t)(field->content - key_end);
        if (!replace(message, key_end, field->content, number, size)) return false;
    }
    return true;
}

// Puts bytes where a stretch inside the message `parent` is, or was.
static bool change_inside(struct message *message, size_t parent, size_t begin, size_t end, const uint8_t *with,
                          size_t size) {
    return replace(message, begin, end, with, size) &&
           mend_lengths(message, parent, (ptrdiff_t)size - (ptrdiff_t)(end - begin));
}

// --- The changes ---

static uint8_t work[WORK_BYTES];

static bool change_number(struct message *message, const struct field *field, uint32_t *state) {
    static const uint64_t telling[] = {0, 1, 2, 127, 128, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
    size_t at = field->content;
    uint64_t value;
    if (!read_number(message, &at, field->end, &value)) return false;
    switch (next_random(state) % 4) {
        case 0:
            value = telling[next_random(state) % (sizeof telling / sizeof *telling)];
            break;
        case 1:
            value += next_random(state) % 9 - (uint64_t)4;
            break;
        case 2:
            value ^= (uint64_t)1 << next_random(state) % 64;
            break;
        default:
            value = next_random(state) % 64;
    }
    size_t size = write_number(work, value);
    return change_inside(message, field->parent, field->content, field->end, work, size);
}

static bool change_bytes(struct message *message, size_t place) {
    const struct field *field = &message->fields[place];
    size_t size = field->end - field->content;
    if (size > WORK_BYTES / 2) return false;
    memcpy(work, message->data + field->content, size);
    size_t made = LLVMFuzzerMutate(work, size, size + 16);
    return change_inside(message, is_of_length(message, field) ? place : field->parent, field->content, field->end,
                         work, is_of_length(message, field) ? made : size);
}

// A copy of one field before another, or in its place.
static bool copy_field(struct message *message, const struct field *from, const struct field *to, bool stays) {
    size_t size = from->end - from->begin;
    if (size > WORK_BYTES) return false;
    memcpy(work, message->data + from->begin, size);
    return change_inside(message, to->parent, to->begin, stays ? to->begin : to->end, work, size);
}

static bool change(struct message *message, uint32_t *state) {
    size_t place = next_random(state) % message->count, other = next_random(state) % message->count;
    const struct field *field = &message->fields[place];
    switch (next_random(state) % 8) {
        case 0:
            return change_inside(message, field->parent, field->begin, field->end, NULL, 0);
        case 1:
            return copy_field(message, field, field, true);
        case 2:
            return copy_field(message, &message->fields[other], field, true);
        case 3:
            return copy_field(message, &message->fields[other], field, false);
        default:
            return field->is_number ? change_number(message, field, state) : change_bytes(message, place);
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
    static struct message message;
    uint32_t state = seed;
    message.data = data, message.size = size, message.room = max_size, message.count = 0;
    read_fields(&message, 0, size, FIELDS_MAX, 0);
    if (message.count == 0 || next_random(&state) % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
    for (int tries = 0; tries < 4; tries++) {
        if (change(&message, &state)) return message.size;
        if (message.size != size) break;  // cut off half way, for want of room: a broken message
    }
    return message.size;
}
