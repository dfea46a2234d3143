#include "analysis/input/raw_file.h"

#include <string.h>

static bool in_storage(const struct raw_file *file) {
    return file->storage.calls;
}

bool raw_file_open(struct raw_file *file, const struct storage *storage, const char *path, struct error *error) {
    *file = (struct raw_file){.path = path};
    if (!reading_goes_on(storage->reading, path, error)) return false;
    reading_begin(storage->reading, path);
    reading_awaits(storage->reading);
    bool is_open = storage->calls->open(storage, path, &file->handle, &file->version, error);
    reading_has_come(storage->reading);
    if (!is_open) return false;
    file->storage = *storage;
    return true;
}

void raw_file_of_memory(struct raw_file *file, struct bytes content, const char *path) {
    *file = (struct raw_file){
        .path = path,
        .memory = content,
        .version = {.size_bytes = content.size, .inode = (uint64_t)(uintptr_t)content.data},
    };
}

void raw_file_close(struct raw_file *file) {
    if (in_storage(file)) file->storage.calls->close(&file->storage, file->handle);
    file->storage.calls = NULL;
}

bool raw_file_is_unchanged(const struct raw_file *file) {
    return !in_storage(file) || file->storage.calls->is_unchanged(&file->storage, file->handle, &file->version);
}

bool raw_file_clone(const struct raw_file *file, struct raw_file *clone) {
    *clone = *file;
    return !in_storage(file) || file->storage.calls->clone(&file->storage, file->handle, &clone->handle);
}

void raw_file_expect(const struct raw_file *file, uint64_t offset, uint64_t size) {
    const struct storage *storage = &file->storage;
    if (!in_storage(file)) return;
    reading_wants(storage->reading, size);
    if (storage->calls->expect) storage->calls->expect(storage, file->handle, offset, size);
}

bool raw_file_is_worth_threads(const struct raw_file *file) {
    return !in_storage(file) || !file->storage.calls->splits_reads;
}

static bool shrank(const struct raw_file *file, uint64_t end, struct error *error) {
    return error_in(
        error, ERROR_TRUNCATED, file->path, (int64_t)end,
        "the file ends here now, but had %llu bytes when it was opened: it was replaced or cut while it was read; "
        "try again",
        (unsigned long long)file->version.size_bytes);
}

static bool read_stored(const struct raw_file *file, uint64_t offset, void *to, size_t size, size_t *read_bytes,
                        struct error *error) {
    const struct storage *storage = &file->storage;
    reading_awaits(storage->reading);
    bool is_good = storage->calls->read(storage, file->handle, offset, to, size, read_bytes, file->path, error);
    reading_has_come(storage->reading);
    if (!is_good) return false;
    return *read_bytes == size || shrank(file, offset + *read_bytes, error);
}

bool raw_file_read(const struct raw_file *file, uint64_t offset, void *to, size_t size, size_t *read_bytes,
                   struct error *error) {
    uint64_t left = offset < file->version.size_bytes ? file->version.size_bytes - offset : 0;
    size_t wanted = size < left ? size : (size_t)left;
    *read_bytes = 0;
    if (in_storage(file)) return read_stored(file, offset, to, wanted, read_bytes, error);
    if (wanted) memcpy(to, file->memory.data + offset, wanted);
    *read_bytes = wanted;
    return true;
}
