#include "proto/wire.h"

enum { MAX_VARINT_BYTES = 10, MAX_FIELD_NUMBER = 0x1fffffff };

static bool fault(struct wire *w, const char *expected) {
    w->fault = expected;
    return false;
}

const uint8_t *wire_varint(const uint8_t *at, const uint8_t *end, uint64_t *value) {
    uint64_t result = 0;
    for (unsigned i = 0; i < MAX_VARINT_BYTES && at < end; i++) {
        uint8_t byte = *at++;
        result |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *value = result;
            return at;
        }
    }
    return NULL;
}

static uint64_t read_little_endian(const uint8_t *at, unsigned size) {
    uint64_t result = 0;
    for (unsigned i = 0; i < size; i++) result |= (uint64_t)at[i] << (8 * i);
    return result;
}

static bool read_fixed(struct wire *w, const uint8_t *at, unsigned size, struct wire_field *field) {
    if ((size_t)(w->end - at) < size) return fault(w, "a fixed-width value inside the message");
    field->value = read_little_endian(at, size);
    w->at = at + size;
    return true;
}

bool wire_next_any(struct wire *w, struct wire_field *field) {
    if (w->at == w->end || w->fault) return false;
    uint64_t key, value;
    const uint8_t *at = wire_varint(w->at, w->end, &key);
    if (!at) return fault(w, "a field key (varint)");
    if (key >> 3 == 0 || key >> 3 > MAX_FIELD_NUMBER) return fault(w, "a field number from 1 to 2^29-1");
    *field = (struct wire_field){.number = (uint32_t)(key >> 3), .type = (enum wire_type)(key & 7)};
    switch (key & 7) {
        case WIRE_LEN:
            at = wire_varint(at, w->end, &value);
            if (!at) return fault(w, "a length (varint)");
            if (value > (uint64_t)(w->end - at)) return fault(w, "a length that stays inside the message");
            field->payload = (struct bytes){at, (size_t)value};
            w->at = at + value;
            return true;
        case WIRE_VARINT:
            at = wire_varint(at, w->end, &field->value);
            if (!at) return fault(w, "a varint of at most 10 bytes");
            w->at = at;
            return true;
        case WIRE_FIXED64:
            return read_fixed(w, at, 8, field);
        case WIRE_FIXED32:
            return read_fixed(w, at, 4, field);
        default:
            return fault(w, "a wire type of 0, 1, 2 or 5");
    }
}

bool wire_find_varint(struct wire *w, uint32_t number, uint64_t *value) {
    struct wire_field field;
    while (wire_next(w, &field)) {
        if (field.number != number || field.type != WIRE_VARINT) continue;
        *value = field.value;
        return true;
    }
    return false;
}

bool wire_next_varint(struct wire *w, uint64_t *value) {
    if (w->at == w->end || w->fault) return false;
    const uint8_t *at = wire_varint(w->at, w->end, value);
    if (!at) return fault(w, "a varint of at most 10 bytes");
    w->at = at;
    return true;
}

struct bytes wire_find_message(struct bytes message, uint32_t number) {
    struct wire w = wire_open(message);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number == number && f.type == WIRE_LEN) return f.payload;
    }
    return (struct bytes){0};
}
