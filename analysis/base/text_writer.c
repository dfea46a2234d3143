#include "analysis/base/text_writer.h"

enum { FIRST_CAPACITY = 96 };

static bool make_room(struct text_writer *writer, size_t more) {
    if (writer->has_failed) return false;
    if (writer->capacity - writer->size >= more) return true;
    size_t wanted = writer->capacity ? writer->capacity : FIRST_CAPACITY;
    while (wanted - writer->size < more && wanted <= SIZE_MAX / 2) wanted *= 2;
    char *data = wanted - writer->size < more ? NULL : arena_push_raw(writer->arena, wanted, 1);
    writer->has_failed = !data;
    if (!data) return false;
    if (writer->size) memcpy(data, writer->data, writer->size);
    writer->data = data;
    writer->capacity = wanted;
    return true;
}

void text_put_bytes(struct text_writer *writer, struct bytes text) {
    if (!text.size || !make_room(writer, text.size)) return;
    memcpy(writer->data + writer->size, text.data, text.size);
    writer->size += text.size;
}

void text_put_int64(struct text_writer *writer, int64_t value) {
    uint8_t digits[21];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do {
        digits[--at] = (uint8_t)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) digits[--at] = '-';
    text_put_bytes(writer, (struct bytes){digits + at, sizeof digits - at});
}

const char *text_writer_finish(struct text_writer *writer) {
    text_put_bytes(writer, (struct bytes){(const uint8_t *)"", 1});
    return writer->has_failed ? NULL : writer->data;
}

struct bytes text_writer_bytes(struct text_writer *writer) {
    const char *text = text_writer_finish(writer);
    return text ? (struct bytes){(const uint8_t *)text, writer->size - 1} : (struct bytes){0};
}
