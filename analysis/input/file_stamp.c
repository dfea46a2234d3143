#include "analysis/input/file_stamp.h"

#include <string.h>

#include "analysis/base/id_map.h"

uint64_t file_stamp_with_number(uint64_t stamp, uint64_t number) {
    return id_map_mix(stamp ^ number);
}

uint64_t file_stamp_with_text(uint64_t stamp, const char *text) {
    enum { WORD_BYTES = sizeof(uint64_t), SIZE_SHIFT = 56 };
    size_t size = strlen(text), at = 0;
    uint64_t word = 0;
    for (; size - at >= WORD_BYTES; at += WORD_BYTES) {
        memcpy(&word, text + at, WORD_BYTES);
        stamp = file_stamp_with_number(stamp, word);
    }
    word = 0;
    memcpy(&word, text + at, size - at);
    return file_stamp_with_number(stamp, word ^ (uint64_t)(size - at + 1) << SIZE_SHIFT);
}

uint64_t file_stamp_with(uint64_t stamp, const char *name, const struct file_version *version) {
    stamp = file_stamp_with_text(stamp, name);
    stamp = file_stamp_with_number(stamp, version->device);
    stamp = file_stamp_with_number(stamp, version->inode);
    stamp = file_stamp_with_number(stamp, version->size_bytes);
    stamp = file_stamp_with_number(stamp, (uint64_t)version->modified_s);
    stamp = file_stamp_with_number(stamp, (uint64_t)version->modified_ns);
    stamp = file_stamp_with_number(stamp, (uint64_t)version->changed_s);
    return file_stamp_with_number(stamp, (uint64_t)version->changed_ns);
}
