// Which version of a file or folder this is: it changes when the file is replaced, rewritten or grows, when its
// permissions do, and when an entry of the folder comes or goes.
//
//     storage (storage.h) ──> device, inode, size, time of the content, time of the last change
//
// The time of the content (mtime) is what people set and copy along (cp -p, rsync -t); the time of the last change
// (ctime) is the system's own, and nobody sets it back. Where there is no such thing (objects in a bucket) it is 0.
//
// Taken once, when a file is looked at; everything that is made of the file carries it, and whoever opens the file
// later compares it with what is open.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct file_version {
    uint64_t device, inode, size_bytes;
    int64_t modified_s, modified_ns;  // of the content: seconds since 1970, and the rest of the second
    int64_t changed_s, changed_ns;    // of anything about it
};

// What could not be looked at has no version: all of it is 0.
static inline bool file_version_is_known(const struct file_version *v) {
    return v->device || v->inode || v->size_bytes || v->modified_s || v->modified_ns || v->changed_s || v->changed_ns;
}

static inline bool file_version_equal(const struct file_version *a, const struct file_version *b) {
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_s == b->modified_s && a->modified_ns == b->modified_ns && a->changed_s == b->changed_s &&
           a->changed_ns == b->changed_ns;
}
