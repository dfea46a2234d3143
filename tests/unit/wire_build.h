// Encodes protobuf messages for tests, field by field, so that a test can also write what no library would.
//
//     struct wire_build inner = {0}, outer = {0};
//     wire_build_varint(&inner, 1, 36);
//     wire_build_text(&inner, 2, "jit_f");
//     wire_build_message(&outer, 4, &inner);      // frees inner
//     use(wire_build_view(&outer));
//     wire_build_free(&outer);
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "proto/wire.h"

struct wire_build {
    uint8_t *data;
    size_t size, capacity;
};

static inline struct bytes wire_build_view(const struct wire_build *message) {
    return (struct bytes){message->data, message->size};
}

static inline void wire_build_free(struct wire_build *message) {
    free(message->data);
    *message = (struct wire_build){0};
}

static inline void wire_build_raw(struct wire_build *message, struct bytes bytes) {
    if (message->capacity - message->size < bytes.size) {
        size_t capacity = 2 * message->capacity + bytes.size;
        uint8_t *data = malloc(capacity);
        if (!data) abort();
        if (message->data) memcpy(data, message->data, message->size);
        free(message->data);
        message->data = data;
        message->capacity = capacity;
    }
    if (bytes.size) memcpy(message->data + message->size, bytes.data, bytes.size);
    message->size += bytes.size;
}

static inline void wire_build_bare_varint(struct wire_build *message, uint64_t value) {
    uint8_t encoded[10];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) encoded[size++] = (uint8_t)(value | 0x80);
    encoded[size++] = (uint8_t)value;
    wire_build_raw(message, (struct bytes){encoded, size});
}

static inline void wire_build_key(struct wire_build *message, uint32_t number, enum wire_type type) {
    wire_build_bare_varint(message, (uint64_t)number << 3 | (uint64_t)type);
}

static inline void wire_build_varint(struct wire_build *message, uint32_t number, uint64_t value) {
    wire_build_key(message, number, WIRE_VARINT);
    wire_build_bare_varint(message, value);
}

static inline void wire_build_fixed64(struct wire_build *message, uint32_t number, uint64_t value) {
    uint8_t encoded[8];
    for (unsigned i = 0; i < 8; i++) encoded[i] = (uint8_t)(value >> (8 * i));
    wire_build_key(message, number, WIRE_FIXED64);
    wire_build_raw(message, (struct bytes){encoded, sizeof encoded});
}

static inline void wire_build_double(struct wire_build *message, uint32_t number, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    wire_build_fixed64(message, number, bits);
}

static inline void wire_build_bytes(struct wire_build *message, uint32_t number, struct bytes bytes) {
    wire_build_key(message, number, WIRE_LEN);
    wire_build_bare_varint(message, bytes.size);
    wire_build_raw(message, bytes);
}

static inline void wire_build_text(struct wire_build *message, uint32_t number, const char *text) {
    wire_build_bytes(message, number, bytes_of(text));
}

// Takes the inner message: it is empty afterwards.
static inline void wire_build_message(struct wire_build *message, uint32_t number, struct wire_build *inner) {
    wire_build_bytes(message, number, wire_build_view(inner));
    wire_build_free(inner);
}
