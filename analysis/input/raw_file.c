#include "analysis/input/raw_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/input/system_error.h"

static bool describe(struct raw_file *file, struct error *error) {
    struct stat status;
    if (fstat(file->descriptor, &status) != 0) return system_error(error, errno, "look at the file", file->path);
    if (!S_ISREG(status.st_mode)) {
        const char *what = S_ISDIR(status.st_mode) ? "a folder" : "not a regular file";
        return error_in(error, ERROR_UNREADABLE, file->path, ERROR_WHOLE_FILE, "expected a file, this is %s", what);
    }
    file->version = file_version_of(&status);
    return true;
}

bool raw_file_open(struct raw_file *file, const char *path, struct error *error) {
    *file = (struct raw_file){.path = path, .descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)};
    if (file->descriptor < 0) return system_error(error, errno, "open the file", path);
    if (describe(file, error)) return true;
    raw_file_close(file);
    return false;
}

void raw_file_of_memory(struct raw_file *file, struct bytes content, const char *path) {
    *file = (struct raw_file){
        .path = path,
        .descriptor = -1,
        .memory = content,
        .version = {.size_bytes = content.size, .inode = (uint64_t)(uintptr_t)content.data},
    };
}

void raw_file_close(struct raw_file *file) {
    if (file->descriptor >= 0) close(file->descriptor);
    file->descriptor = -1;
}

bool raw_file_is_unchanged(const struct raw_file *file) {
    struct stat status;
    if (file->descriptor < 0) return true;
    if (fstat(file->descriptor, &status) != 0) return false;
    struct file_version now = file_version_of(&status);
    return file_version_equal(&now, &file->version);
}

bool raw_file_clone(const struct raw_file *file, struct raw_file *clone) {
    *clone = *file;
    if (file->descriptor < 0) return true;
    clone->descriptor = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 0);
    return clone->descriptor >= 0;
}

static bool shrank(const struct raw_file *file, uint64_t end, struct error *error) {
    return error_in(
        error, ERROR_TRUNCATED, file->path, (int64_t)end,
        "the file ends here now, but had %llu bytes when it was opened: it was replaced or cut while it was read; "
        "try again",
        (unsigned long long)file->version.size_bytes);
}

static bool read_descriptor(const struct raw_file *file, uint64_t offset, uint8_t *to, size_t size, size_t *read_bytes,
                            struct error *error) {
    while (*read_bytes < size) {
        ssize_t got = pread(file->descriptor, to + *read_bytes, size - *read_bytes, (off_t)(offset + *read_bytes));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(error, errno, "read the file", file->path);
        if (got == 0) return shrank(file, offset + *read_bytes, error);
        *read_bytes += (size_t)got;
    }
    return true;
}

bool raw_file_read(const struct raw_file *file, uint64_t offset, void *to, size_t size, size_t *read_bytes,
                   struct error *error) {
    uint64_t left = offset < file->version.size_bytes ? file->version.size_bytes - offset : 0;
    size_t wanted = size < left ? size : (size_t)left;
    *read_bytes = 0;
    if (file->descriptor >= 0) return read_descriptor(file, offset, to, wanted, read_bytes, error);
    if (wanted) memcpy(to, file->memory.data + offset, wanted);
    *read_bytes = wanted;
    return true;
}
