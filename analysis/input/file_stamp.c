#include "analysis/input/file_stamp.h"

static const uint64_t PRIME = 0x100000001B3;  // FNV-1a, 64 bits

static uint64_t with_byte(uint64_t stamp, uint8_t byte) {
    return (stamp ^ byte) * PRIME;
}

uint64_t file_stamp_with_text(uint64_t stamp, const char *text) {
    for (; *text; text++) stamp = with_byte(stamp, (uint8_t)*text);
    return with_byte(stamp, 0);
}

uint64_t file_stamp_with_number(uint64_t stamp, uint64_t number) {
    for (unsigned shift = 0; shift < 64; shift += 8) stamp = with_byte(stamp, (uint8_t)(number >> shift));
    return stamp;
}

uint64_t file_stamp_with(uint64_t stamp, const char *name, const struct file_version *version) {
    stamp = file_stamp_with_text(stamp, name);
    stamp = file_stamp_with_number(stamp, version->device);
    stamp = file_stamp_with_number(stamp, version->inode);
    stamp = file_stamp_with_number(stamp, version->size_bytes);
    stamp = file_stamp_with_number(stamp, (uint64_t)version->modified_s);
    return file_stamp_with_number(stamp, (uint64_t)version->modified_ns);
}
