#include "analysis/profile/events/short_varint.h"

const uint8_t *long_varint(const uint8_t *at, uint64_t *value) {
    *value = join_sevens(eight_bytes(at) & 0x7f7f7f7f7f7f7f7fu) | (uint64_t)(at[8] & 0x7f) << 56;
    if (at[8] < 0x80) return at + 9;
    *value |= (uint64_t)at[9] << 63;
    return at[9] <= 1 ? at + 10 : NULL;
}
