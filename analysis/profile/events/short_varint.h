// Varints without a loop: times, sizes and addresses of a trace are four to seven bytes long, negative ids ten.
//
//     bytes    1aaaaaaa 1bbbbbbb 0ccccccc xxxxxxxx ...   eight are loaded; the first clear top bit ends the number
//     value    ccccccc bbbbbbb aaaaaaa                   the sevens are moved together in three steps
//
// VARINT_SLACK_BYTES must be readable at `at`, whatever they are; the caller checks that the number ends where it
// should.
#pragma once

#include <stdint.h>
#include <string.h>

enum { VARINT_SLACK_BYTES = 10 };

static inline uint64_t eight_bytes(const uint8_t *at) {
    uint64_t x;
    memcpy(&x, at, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

// Moves the low seven bits of each of the eight bytes together.
static inline uint64_t join_sevens(uint64_t x) {
    uint64_t upper = x & 0x7f007f007f007f00u;
    x -= upper >> 1;
    upper = x & 0x3fff00003fff0000u;
    x = x - upper + (upper >> 2);
    upper = x & 0x0fffffff00000000u;
    return x - upper + (upper >> 4);
}

// The same for a number of nine or ten bytes.
const uint8_t *long_varint(const uint8_t *at, uint64_t *value);

// Where the number ends; NULL when it is none.
static inline const uint8_t *short_varint(const uint8_t *at, uint64_t *value) {
    if (*at < 0x80) {
        *value = *at;
        return at + 1;
    }
    uint64_t x = eight_bytes(at), ends = ~x & 0x8080808080808080u;
    if (!ends) return long_varint(at, value);
    *value = join_sevens(x & (ends ^ (ends - 1)) & 0x7f7f7f7f7f7f7f7fu);
    return at + ((unsigned)__builtin_ctzll(ends) >> 3) + 1;
}
