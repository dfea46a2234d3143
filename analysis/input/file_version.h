// Which version of a file or folder this is: it changes when the file is replaced, rewritten or grows, and when an
// entry of the folder comes or goes.
//
//     stat (or fstat, of what is open) ──> device, inode, size, time of the last change
//
// Taken once, when a file is looked at; everything that is made of the file carries it, and whoever opens the file
// later compares it with what is open. A change that leaves size and time as they were is not seen.
#pragma once

#include "analysis/base/error.h"

struct stat;

struct file_version {
    uint64_t device, inode, size_bytes;
    int64_t modified_s, modified_ns;  // seconds since 1970, and the rest of the second
};

// What a system call told.
struct file_version file_version_of(const struct stat *status);

bool file_version_equal(const struct file_version *a, const struct file_version *b);

// Of what is at `path` now, links followed. ERROR_NOT_FOUND or ERROR_UNREADABLE names the path.
MUST_USE bool file_version_look(const char *path, struct file_version *version, struct error *error);

// The same of a regular file; false for anything else.
MUST_USE bool file_version_of_file(const char *path, struct file_version *version);
