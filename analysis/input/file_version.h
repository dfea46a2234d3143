// Which version of a file or folder this is: it changes when the file is replaced, rewritten or grows, and when an
// entry of the folder comes or goes.
//
//     storage (storage.h) ──> device, inode, size, time of the last change
//
// Taken once, when a file is looked at; everything that is made of the file carries it, and whoever opens the file
// later compares it with what is open. A change that leaves size and time as they were is not seen.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct file_version {
    uint64_t device, inode, size_bytes;
    int64_t modified_s, modified_ns;  // seconds since 1970, and the rest of the second
};

static inline bool file_version_equal(const struct file_version *a, const struct file_version *b) {
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_s == b->modified_s && a->modified_ns == b->modified_ns;
}
