// This machine's disks, counted: how many files were opened and how many bytes of them read; and reads that fail.
#pragma once

#include <stdatomic.h>

#include "analysis/input/local_storage.h"

struct storage_counts {
    atomic_size_t opened, read_bytes;
    atomic_bool fails;  // each read is refused, as by a disk that is gone for a moment
};

static struct storage_counts counted;

static inline bool counted_open(const struct storage *storage, const char *path, union storage_handle *handle,
                                struct file_version *version, struct error *error) {
    atomic_fetch_add(&counted.opened, 1);
    return local_storage()->calls->open(storage, path, handle, version, error);
}

static inline bool counted_read(const struct storage *storage, union storage_handle handle, uint64_t offset,
                                uint8_t *to, size_t size, size_t *read_bytes, const char *path, struct error *error) {
    if (atomic_load(&counted.fails)) return error_in(error, ERROR_UNREADABLE, path, ERROR_WHOLE_FILE, "no such luck");
    bool is_good = local_storage()->calls->read(storage, handle, offset, to, size, read_bytes, path, error);
    if (is_good) atomic_fetch_add(&counted.read_bytes, *read_bytes);
    return is_good;
}

// Counts from 0 on.
static inline struct storage counted_storage(void) {
    static struct storage_calls calls;
    struct storage storage = *local_storage();
    calls = *storage.calls;
    calls.open = counted_open;
    calls.read = counted_read;
    storage.calls = &calls;
    atomic_store(&counted.opened, 0);
    atomic_store(&counted.read_bytes, 0);
    atomic_store(&counted.fails, false);
    return storage;
}
