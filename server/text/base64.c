#include "server/text/base64.h"

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_three(const uint8_t *at, size_t count, char *to) {
    uint32_t bits = (uint32_t)at[0] << 16 | (count > 1 ? (uint32_t)at[1] << 8 : 0) | (count > 2 ? at[2] : 0u);
    to[0] = DIGITS[bits >> 18];
    to[1] = DIGITS[bits >> 12 & 63];
    to[2] = count > 1 ? DIGITS[bits >> 6 & 63] : '=';
    to[3] = count > 2 ? DIGITS[bits & 63] : '=';
}

void base64_write(struct bytes bytes, struct output *output) {
    size_t groups = bytes.size / 3 + (bytes.size % 3 != 0);
    char *to = groups ? output_reserve(output, 4 * groups) : NULL;
    if (!to) return;
    for (size_t i = 0; i < groups; i++) {
        size_t left = bytes.size - 3 * i;
        put_three(bytes.data + 3 * i, left < 3 ? left : 3, to + 4 * i);
    }
    output_advance(output, 4 * groups);
}
