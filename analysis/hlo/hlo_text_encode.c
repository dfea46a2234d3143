#include "analysis/hlo/hlo_text_encode.h"

#include "proto/wire.h"

enum { LONGEST_VARINT = 10, LENGTH_BYTES = 5 };

static void put_varint(struct text_writer *w, uint64_t value) {
    uint8_t bytes[LONGEST_VARINT];
    size_t size = 0;
    for (; value >= 0x80; value >>= 7) bytes[size++] = (uint8_t)(value | 0x80);
    bytes[size++] = (uint8_t)value;
    text_put_bytes(w, (struct bytes){bytes, size});
}

static void put_key(struct text_writer *w, uint32_t field, enum wire_type type) {
    put_varint(w, (uint64_t)field << 3 | type);
}

void encode_varint(struct text_writer *w, uint32_t field, uint64_t value) {
    put_key(w, field, WIRE_VARINT);
    put_varint(w, value);
}

void encode_flag(struct text_writer *w, uint32_t field, bool value) {
    if (value) encode_varint(w, field, 1);
}

void encode_bytes(struct text_writer *w, uint32_t field, struct bytes value) {
    put_key(w, field, WIRE_LEN);
    put_varint(w, value.size);
    text_put_bytes(w, value);
}

size_t encode_open(struct text_writer *w, uint32_t field) {
    put_key(w, field, WIRE_LEN);
    text_put_bytes(w, (struct bytes){(const uint8_t[LENGTH_BYTES]){0}, LENGTH_BYTES});
    return w->size;
}

void encode_close(struct text_writer *w, size_t mark) {
    if (w->has_failed) return;
    uint64_t size = w->size - mark;
    uint8_t *length = (uint8_t *)w->data + mark - LENGTH_BYTES;
    for (int i = 0; i < LENGTH_BYTES; i++, size >>= 7)
        length[i] = (uint8_t)((size & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}
