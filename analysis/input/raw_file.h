// The bytes of one input as they lie in a storage (or in memory), before any inflating.
#pragma once

#include "analysis/input/storage.h"
#include "proto/bytes.h"

struct raw_file {
    const char *path;        // for messages; borrowed
    struct storage storage;  // without calls: in memory
    union storage_handle handle;
    struct bytes memory;
    struct file_version version;  // when it was opened
};

MUST_USE bool raw_file_open(struct raw_file *file, const struct storage *storage, const char *path,
                            struct error *error);
void raw_file_of_memory(struct raw_file *file, struct bytes content, const char *path);
void raw_file_close(struct raw_file *file);

// Whether the open file is still of the version that was opened.
bool raw_file_is_unchanged(const struct raw_file *file);

// The same open file once more. False when the storage has none to give.
MUST_USE bool raw_file_clone(const struct raw_file *file, struct raw_file *clone);

// All of that range will be read, in order: whoever stores it may fetch it ahead.
void raw_file_expect(const struct raw_file *file, uint64_t offset, uint64_t size);

// Whether a large read is worth two threads.
bool raw_file_is_worth_threads(const struct raw_file *file);

// Reads up to `size` bytes; fewer only where the size at opening ends. A file that has become shorter since is
// ERROR_TRUNCATED; *read_bytes is then what could be read.
MUST_USE bool raw_file_read(const struct raw_file *file, uint64_t offset, void *to, size_t size, size_t *read_bytes,
                            struct error *error);
