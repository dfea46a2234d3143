// A cursor over one protobuf message in memory.
//
//     message  = field*          field = key payload
//     key      = varint: field number << 3 | wire type
//     payload  = VARINT: varint | FIXED64: 8 bytes | LEN: varint length, bytes | FIXED32: 4 bytes
//
//     struct wire w = wire_open(blob);
//     struct wire_field f;
//     while (wire_next(&w, &f))
//         if (f.number == 3) inner = wire_open(f.payload);     // a sub-message is just another view
//     if (w.fault) ...                                         // ended early; w.at is where
//
// Knows no schema, allocates nothing, does not recurse, reads only inside the given view, never fails on unknown
// fields. A repeated scalar may be packed (LEN) or not (VARINT): see wire_open_packed.
#pragma once

#include "proto/bytes.h"

enum wire_type { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_LEN = 2, WIRE_FIXED32 = 5 };

struct wire {
    const uint8_t *at;   // the next byte to read; after a fault, the start of the field at fault
    const uint8_t *end;  // one past the last byte
    const char *fault;   // NULL, or what was expected (a string literal)
};

struct wire_field {
    uint32_t number;
    enum wire_type type;
    uint64_t value;        // VARINT, FIXED64 and FIXED32
    struct bytes payload;  // LEN: a view into the message
};

static inline struct wire wire_open(struct bytes message) {
    return (struct wire){.at = message.data, .end = message.data ? message.data + message.size : NULL};
}

// The careful half of wire_next: every kind of field, every fault.
bool wire_next_any(struct wire *w, struct wire_field *field);

// Reads a varint of any length: what comes after it, or NULL when it does not end before `end`.
const uint8_t *wire_varint(const uint8_t *at, const uint8_t *end, uint64_t *value);

// Reads a varint of one or two bytes at `at`, where two bytes can be read. False for longer ones.
static inline bool wire_short_varint(const uint8_t **at, uint64_t *value) {
    const uint8_t *bytes = *at;
    bool is_two = bytes[0] >= 0x80;
    if (is_two && bytes[1] >= 0x80) return false;
    *value = is_two ? (uint64_t)(bytes[0] & 0x7f) | (uint64_t)bytes[1] << 7 : bytes[0];
    *at = bytes + (is_two ? 2 : 1);
    return true;
}

// Reads the next field. False at the end, and on a fault (then w->fault is set and stays set). Inline, because walking
// fields is where the time of loading a module goes, and nearly all have short keys and lengths.
static inline bool wire_next(struct wire *w, struct wire_field *field) {
    enum { LONGEST_SHORT_FIELD = 4 };
    const uint8_t *at = w->at;
    uint64_t key, value;
    if (w->fault || w->end - at < LONGEST_SHORT_FIELD) return wire_next_any(w, field);
    if (!wire_short_varint(&at, &key) || key < 8) return wire_next_any(w, field);
    if (!wire_short_varint(&at, &value) && !(at = wire_varint(at, w->end, &value))) return wire_next_any(w, field);
    if ((key & 7) == WIRE_LEN && value <= (uint64_t)(w->end - at)) {
        *field = (struct wire_field){(uint32_t)(key >> 3), WIRE_LEN, 0, {at, (size_t)value}};
        w->at = at + value;
        return true;
    }
    if ((key & 7) != WIRE_VARINT) return wire_next_any(w, field);
    *field = (struct wire_field){(uint32_t)(key >> 3), WIRE_VARINT, value, {0}};
    w->at = at;
    return true;
}

// Steps to the next VARINT field `number` and reads its value: faster than wire_next where one field of many is wanted.
// False at the end and on a fault.
bool wire_find_varint(struct wire *w, uint32_t number, uint64_t *value);

// The first LEN field `number` of a message; empty when there is none.
struct bytes wire_find_message(struct bytes message, uint32_t number);

// Reads one bare varint, as in a packed field. False at the end and on a fault.
bool wire_next_varint(struct wire *w, uint64_t *value);

// The scalars of one occurrence of a repeated integer field, packed or not: start with wire_open_packed.
static inline struct wire wire_open_packed(const struct wire_field *field) {
    return field->type == WIRE_LEN ? wire_open(field->payload) : (struct wire){0};
}

static inline int64_t wire_int64(const struct wire_field *field) {
    return (int64_t)field->value;
}

static inline int32_t wire_int32(const struct wire_field *field) {
    return (int32_t)(uint32_t)field->value;
}

static inline bool wire_bool(const struct wire_field *field) {
    return field->value != 0;
}
