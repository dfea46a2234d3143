#define _DEFAULT_SOURCE 1  // DT_DIR and its kin: without them every entry would cost a system call
#include "analysis/input/local_storage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/growing_array.h"
#include "analysis/input/system_error.h"

enum { PIECE_BYTES = 8 << 20 };  // of a read: often enough to be followed and stopped

static struct file_version version_of(const struct stat *status) {
    return (struct file_version){(uint64_t)status->st_dev,         (uint64_t)status->st_ino,
                                 (uint64_t)status->st_size,        (int64_t)status->st_mtim.tv_sec,
                                 (int64_t)status->st_mtim.tv_nsec, (int64_t)status->st_ctim.tv_sec,
                                 (int64_t)status->st_ctim.tv_nsec};
}

static enum entry_kind kind_of_mode(mode_t mode) {
    if (S_ISREG(mode)) return ENTRY_FILE;
    if (S_ISDIR(mode)) return ENTRY_FOLDER;
    return S_ISLNK(mode) ? ENTRY_LINK : ENTRY_OTHER;
}

// --- What is open lies in the root ---

enum { DESCRIPTOR_PATH_BYTES = 40 };

// Where a descriptor leads, as the system knows it; without /proc, where its path leads now, if that is the same.
static bool find_target(int descriptor, const char *path, char target[PATH_MAX]) {
    char link[DESCRIPTOR_PATH_BYTES];
    struct stat opened, there;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t size = readlink(link, target, PATH_MAX - 1);
    if (size >= 0) target[size] = '\0';
    if (size >= 0) return true;
    return realpath(path, target) && fstat(descriptor, &opened) == 0 && lstat(target, &there) == 0 &&
           opened.st_dev == there.st_dev && opened.st_ino == there.st_ino;
}

// A link may have been put in its place, or in that of a folder above it, since it was listed.
static bool is_in_root(const struct storage *storage, int descriptor, const char *path, struct error *error) {
    char target[PATH_MAX];
    if (!storage->root || storage->follows_links) return true;
    if (find_target(descriptor, path, target) && folder_is_below(target, storage->root)) return true;
    return error_in(error, ERROR_UNREADABLE, path, ERROR_WHOLE_FILE,
                    "a link leads out of the opened folder; --follow_symlinks follows it");
}

// --- Paths ---

static bool look(const struct storage *storage, const char *path, enum storage_links links, struct storage_entry *entry,
                 struct error *error) {
    (void)storage;
    struct stat status;
    int refused = links == STORAGE_FOLLOW_LINKS ? stat(path, &status) : lstat(path, &status);
    if (refused) return system_error(error, errno, "open it", path);
    *entry = (struct storage_entry){kind_of_mode(status.st_mode), version_of(&status)};
    return true;
}

static char *resolve(const struct storage *storage, const char *path, struct arena *arena, struct error *error) {
    (void)storage;
    char resolved[PATH_MAX];
    char *kept = realpath(path, resolved) ? arena_string(arena, bytes_of(resolved)) : NULL;
    if (!kept) (void)system_error(error, errno, "open it", path);
    return kept;
}

static struct storage_link follow(const struct storage *storage, const char *path, const char *root) {
    (void)storage;
    char target[PATH_MAX];
    struct stat status;
    if (!realpath(path, target) || stat(target, &status) != 0) return (struct storage_link){ENTRY_LINK, false};
    return (struct storage_link){kind_of_mode(status.st_mode), folder_is_below(target, root)};
}

// --- Folders ---

// Some file systems do not say in the folder what an entry is.
static enum entry_kind kind_of_entry(DIR *open_folder, const struct dirent *entry) {
    struct stat status;
    switch (entry->d_type) {
        case DT_REG:
            return ENTRY_FILE;
        case DT_DIR:
            return ENTRY_FOLDER;
        case DT_LNK:
            return ENTRY_LINK;
        case DT_UNKNOWN:
            if (fstatat(dirfd(open_folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) return ENTRY_OTHER;
            return kind_of_mode(status.st_mode);
        default:
            return ENTRY_OTHER;
    }
}

static bool out_of_memory(const char *path, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, path, ERROR_WHOLE_FILE, "no memory left to list the folder");
}

static bool add_entry(struct folder *folder, DIR *open_folder, const struct dirent *found, struct arena *arena) {
    struct folder_entry entry = {arena_string(arena, bytes_of(found->d_name)), kind_of_entry(open_folder, found)};
    return entry.name && growing_array_add(arena, folder->entries, folder->entry_count, entry);
}

static bool read_entries(DIR *open_folder, const char *path, size_t most, struct arena *arena, struct folder *folder,
                         struct error *error) {
    for (;;) {
        errno = 0;
        const struct dirent *found = readdir(open_folder);
        if (!found && errno != 0) return system_error(error, errno, "list the folder", path);
        if (!found) return true;
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
        folder->has_more = folder->entry_count == most;
        if (folder->has_more) return true;
        if (!add_entry(folder, open_folder, found, arena)) return out_of_memory(path, error);
    }
}

static bool list(const struct storage *storage, const char *path, size_t most, struct arena *arena,
                 struct folder *folder, struct error *error) {
    if (!reading_goes_on(storage->reading, path, error)) return false;
    reading_begin(storage->reading, path);
    DIR *open_folder = opendir(path);
    if (!open_folder) return system_error(error, errno, "open the folder", path);
    struct stat status;
    bool ok = fstat(dirfd(open_folder), &status) == 0 || system_error(error, errno, "look at the folder", path);
    ok = ok && is_in_root(storage, dirfd(open_folder), path, error);
    if (ok) {
        folder->version = version_of(&status);
        ok = read_entries(open_folder, path, most, arena, folder, error);
    }
    closedir(open_folder);
    folder_sort(folder);
    return ok;
}

// --- Open files ---

static bool describe(int descriptor, const char *path, struct file_version *version, struct error *error) {
    struct stat status;
    if (fstat(descriptor, &status) != 0) return system_error(error, errno, "look at the file", path);
    if (!S_ISREG(status.st_mode)) {
        const char *what = S_ISDIR(status.st_mode) ? "a folder" : "not a regular file";
        return error_in(error, ERROR_UNREADABLE, path, ERROR_WHOLE_FILE, "expected a file, this is %s", what);
    }
    *version = version_of(&status);
    return true;
}

enum { SETTLING_TRIES = 25, SETTLING_NS = 1000 * 1000, FOREIGN_CLOCK_S = 1 };

// A file system stamps what is written by the system's coarse clock: what was written in the tick that it is opened in
// may be written again without a new stamp. Stamps of the future are another machine's.
static bool has_settled(const struct file_version *version) {
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0) return true;
    int64_t ahead_s = version->changed_s - (int64_t)now.tv_sec;
    return ahead_s < 0 || ahead_s > FOREIGN_CLOCK_S || (ahead_s == 0 && version->changed_ns < (int64_t)now.tv_nsec);
}

// Waits some milliseconds for the tick to pass, so that any later change is seen.
static bool describe_settled(int descriptor, const char *path, struct file_version *version, struct error *error) {
    static const struct timespec pause = {0, SETTLING_NS};
    for (int i = 0; i < SETTLING_TRIES; i++) {
        if (!describe(descriptor, path, version, error)) return false;
        if (has_settled(version)) return true;
        nanosleep(&pause, NULL);
    }
    return error_in(error, ERROR_UNREADABLE, path, ERROR_WHOLE_FILE,
                    "The file is being written just now; try again when it is complete.");
}

static bool open_file(const struct storage *storage, const char *path, union storage_handle *handle,
                      struct file_version *version, struct error *error) {
    handle->descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (handle->descriptor < 0) return system_error(error, errno, "open the file", path);
    if (is_in_root(storage, handle->descriptor, path, error) &&
        describe_settled(handle->descriptor, path, version, error))
        return true;
    close(handle->descriptor);
    return false;
}

static bool read_file(const struct storage *storage, union storage_handle handle, uint64_t offset, uint8_t *to,
                      size_t size, size_t *read_bytes, const char *path, struct error *error) {
    while (*read_bytes < size) {
        size_t wanted = size - *read_bytes < PIECE_BYTES ? size - *read_bytes : PIECE_BYTES;
        if (!reading_goes_on(storage->reading, path, error)) return false;
        ssize_t got = pread(handle.descriptor, to + *read_bytes, wanted, (off_t)(offset + *read_bytes));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return system_error(error, errno, "read the file", path);
        if (got == 0) return true;
        *read_bytes += (size_t)got;
        reading_adds(storage->reading, (uint64_t)got);
    }
    return true;
}

static bool is_unchanged(const struct storage *storage, union storage_handle handle,
                         const struct file_version *version) {
    (void)storage;
    struct stat status;
    if (fstat(handle.descriptor, &status) != 0) return false;
    struct file_version now = version_of(&status);
    return file_version_equal(&now, version);
}

static bool clone_file(const struct storage *storage, union storage_handle handle, union storage_handle *clone) {
    (void)storage;
    clone->descriptor = fcntl(handle.descriptor, F_DUPFD_CLOEXEC, 0);
    return clone->descriptor >= 0;
}

static void close_file(const struct storage *storage, union storage_handle handle) {
    (void)storage;
    close(handle.descriptor);
}

static const struct storage_calls calls = {.look = look,
                                           .list = list,
                                           .resolve = resolve,
                                           .follow = follow,
                                           .open = open_file,
                                           .read = read_file,
                                           .is_unchanged = is_unchanged,
                                           .clone = clone_file,
                                           .close = close_file};

const struct storage *local_storage(void) {
    static const struct storage storage = {.calls = &calls};
    return &storage;
}

const struct storage *local_storage_following(void) {
    static const struct storage storage = {.calls = &calls, .follows_links = true};
    return &storage;
}
