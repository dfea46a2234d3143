#include "analysis/base/text_scan.h"

void text_skip(struct bytes *text, size_t count) {
    if (count > text->size) count = text->size;
    if (count == 0) return;
    text->data += count;
    text->size -= count;
}

void text_skip_spaces(struct bytes *text) {
    while (text->size && text->data[0] == ' ') text_skip(text, 1);
}

bool text_take(struct bytes *text, struct bytes literal) {
    if (!bytes_starts_with(*text, literal)) return false;
    text_skip(text, literal.size);
    return true;
}

bool text_take_int64(struct bytes *text, int64_t *value) {
    bool is_negative = text->size && text->data[0] == '-';
    size_t at = is_negative;
    int64_t number = 0;
    for (; at < text->size && text->data[at] >= '0' && text->data[at] <= '9'; at++) {
        int64_t digit = text->data[at] - '0';
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, is_negative ? -digit : digit, &number))
            return false;
    }
    if (at == (size_t)is_negative) return false;
    *value = number;
    text_skip(text, at);
    return true;
}

struct bytes text_take_until(struct bytes *text, uint8_t end) {
    const uint8_t *found = text->size ? memchr(text->data, end, text->size) : NULL;
    struct bytes taken = {text->data, found ? (size_t)(found - text->data) : text->size};
    text_skip(text, taken.size);
    return taken;
}

bool text_cut_ending(struct bytes *text, struct bytes ending) {
    if (text->size <= ending.size || !bytes_ends_with(*text, ending)) return false;
    text->size -= ending.size;
    return true;
}
