#include "analysis/input/file_version.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

struct file_version file_version_of(const struct stat *status) {
    return (struct file_version){(uint64_t)status->st_dev, (uint64_t)status->st_ino, (uint64_t)status->st_size,
                                 (int64_t)status->st_mtim.tv_sec, (int64_t)status->st_mtim.tv_nsec};
}

bool file_version_equal(const struct file_version *a, const struct file_version *b) {
    return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
           a->modified_s == b->modified_s && a->modified_ns == b->modified_ns;
}

bool file_version_look(const char *path, struct file_version *version, struct error *error) {
    struct stat status;
    if (stat(path, &status) == 0) {
        *version = file_version_of(&status);
        return true;
    }
    return error_in(error, errno == ENOENT ? ERROR_NOT_FOUND : ERROR_UNREADABLE, path, ERROR_WHOLE_FILE,
                    "The file cannot be read: %s.", strerror(errno));
}

bool file_version_of_file(const char *path, struct file_version *version) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    *version = file_version_of(&status);
    return true;
}
