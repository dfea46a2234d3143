#include "server/storage/disk_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/growing_array.h"
#include "server/storage/crypto.h"

enum { NAME_BYTES = 2 * CRYPTO_SHA256_BYTES, OBJECT_BYTES_MAX = 4096, UNFINISHED_SECONDS = 3600 };
#define FOLDER_NAME "hbmview-blocks"

struct disk_cache {
    int folder;
    uint64_t limit_bytes;
    atomic_uint_fast64_t written_bytes;  // since the folder was looked through
    atomic_uint_fast64_t temporaries;
    pthread_mutex_t lock;  // held while it is looked through
};

// --- Names ---

static void hex_of(const struct crypto_hash *hash, char name[NAME_BYTES + 1]) {
    for (size_t i = 0; i < CRYPTO_SHA256_BYTES; i++) snprintf(name + 2 * i, 3, "%02x", hash->data[i]);
}

static bool name_of(struct disk_block block, struct crypto_hash *key, char name[NAME_BYTES + 1]) {
    char text[OBJECT_BYTES_MAX];
    int size = snprintf(text, sizeof text, "%s\n%" PRIu64, block.object, block.number);
    if (size < 0 || (size_t)size >= sizeof text) return false;
    *key = crypto_sha256((struct bytes){(const uint8_t *)text, (size_t)size});
    hex_of(key, name);
    return true;
}

// What the user has in the folder besides is none of ours.
static bool is_block_name(const char *name) {
    return strspn(name, "0123456789abcdef") == NAME_BYTES && name[NAME_BYTES] == '\0';
}

static bool is_temporary_name(const char *name) {
    return strncmp(name, "new-", 4) == 0;
}

// --- Room ---

struct kept_file {
    char name[NAME_BYTES + 1];
    int64_t used_s;
    uint64_t size_bytes;
};

static int by_use(const void *a, const void *b) {
    const struct kept_file *left = a, *right = b;
    return (left->used_s > right->used_s) - (left->used_s < right->used_s);
}

static void look_at_file(struct disk_cache *cache, const char *name, struct arena *arena, struct kept_file **files,
                         size_t *count, uint64_t *all_bytes) {
    struct stat status;
    struct kept_file file = {.size_bytes = 0};
    if (!is_block_name(name) && !is_temporary_name(name)) return;
    if (fstatat(cache->folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) return;
    if (is_temporary_name(name)) {
        if (status.st_mtime < time(NULL) - UNFINISHED_SECONDS) (void)unlinkat(cache->folder, name, 0);
        return;
    }
    memcpy(file.name, name, NAME_BYTES);
    file.used_s = status.st_mtime;
    file.size_bytes = (uint64_t)status.st_size;
    *all_bytes += file.size_bytes;
    (void)growing_array_add(arena, *files, *count, file);
}

static void make_room(struct disk_cache *cache) {
    struct arena arena;
    struct kept_file *files = NULL;
    size_t count = 0;
    uint64_t all_bytes = 0;
    int again = openat(cache->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again < 0 ? NULL : fdopendir(again);
    if (!folder) {
        if (again >= 0) close(again);
        return;
    }
    arena_init(&arena, (size_t)1 << 30);
    for (struct dirent *entry; (entry = readdir(folder));)
        look_at_file(cache, entry->d_name, &arena, &files, &count, &all_bytes);
    closedir(folder);
    if (count && all_bytes > cache->limit_bytes) qsort(files, count, sizeof *files, by_use);
    uint64_t least = all_bytes > cache->limit_bytes ? cache->limit_bytes - cache->limit_bytes / 8 : UINT64_MAX;
    for (size_t i = 0; i < count && all_bytes > least; i++) {
        if (unlinkat(cache->folder, files[i].name, 0) == 0) all_bytes -= files[i].size_bytes;
    }
    arena_free(&arena);
}

// The folder is looked through each time an eighth of the limit was written, by one thread.
static void add_written(struct disk_cache *cache, uint64_t bytes) {
    if (atomic_fetch_add(&cache->written_bytes, bytes) + bytes < cache->limit_bytes / 8) return;
    if (pthread_mutex_trylock(&cache->lock) != 0) return;
    atomic_store(&cache->written_bytes, 0);
    make_room(cache);
    pthread_mutex_unlock(&cache->lock);
}

// --- The folder ---

// In a folder that others may write to, like /tmp, someone else may have made ours first, and what lies in it.
static bool is_ours(const struct stat *folder) {
    return folder->st_uid == geteuid() && !(folder->st_mode & (S_IWGRP | S_IWOTH));
}

static bool open_folder(struct disk_cache *cache, const char *path, struct error *error) {
    (void)mkdir(path, 0700);
    int outer = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (outer >= 0) (void)mkdirat(outer, FOLDER_NAME, 0700);
    cache->folder = outer < 0 ? -1 : openat(outer, FOLDER_NAME, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    bool is_good = cache->folder >= 0 && faccessat(cache->folder, ".", R_OK | W_OK | X_OK, 0) == 0 &&
                   fstat(cache->folder, &status) == 0;
    if (!is_good)
        (void)error_in(error, ERROR_UNREADABLE, path, ERROR_WHOLE_FILE,
                       "cannot keep blocks of a bucket in this folder: %s; give --disk_cache one that you can write to",
                       strerror(errno));
    if (is_good && !is_ours(&status))
        is_good = error_in(error, ERROR_UNREADABLE, path, ERROR_WHOLE_FILE,
                           "its folder " FOLDER_NAME " is another user's, or others can write to it; give --disk_cache "
                           "a folder of your own");
    if (outer >= 0) close(outer);
    return is_good;
}

struct disk_cache *disk_cache_open(const char *folder, uint64_t limit_bytes, struct error *error) {
    struct disk_cache *cache = calloc(1, sizeof *cache);
    if (!cache) {
        (void)error_in(error, ERROR_TOO_BIG, folder, ERROR_WHOLE_FILE, "no memory left to open it");
        return NULL;
    }
    cache->folder = -1;
    cache->limit_bytes = limit_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    if (open_folder(cache, folder, error)) {
        make_room(cache);
        return cache;
    }
    disk_cache_close(cache);
    return NULL;
}

void disk_cache_close(struct disk_cache *cache) {
    if (!cache) return;
    if (cache->folder >= 0) close(cache->folder);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

// --- Blocks ---

static bool read_whole(int file, struct crypto_hash *sum, uint8_t *to, size_t size) {
    struct iovec parts[2] = {{sum->data, sizeof sum->data}, {to, size}};
    uint8_t more;
    return readv(file, parts, 2) == (ssize_t)(sizeof sum->data + size) && read(file, &more, 1) == 0;
}

bool disk_cache_read(struct disk_cache *cache, struct disk_block block, uint8_t *to, size_t size) {
    struct crypto_hash key, sum;
    char name[NAME_BYTES + 1];
    if (!name_of(block, &key, name)) return false;
    int file = openat(cache->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) return false;
    bool is_whole = read_whole(file, &sum, to, size);
    if (is_whole) {
        struct bytes key_bytes = {key.data, sizeof key.data};
        struct crypto_hash now = crypto_hmac_sha256(key_bytes, (struct bytes){to, size});
        is_whole = memcmp(now.data, sum.data, sizeof sum.data) == 0;
    }
    if (is_whole)
        (void)futimens(file, NULL);
    else
        (void)unlinkat(cache->folder, name, 0);
    close(file);
    return is_whole;
}

void disk_cache_write(struct disk_cache *cache, struct disk_block block, struct bytes bytes) {
    struct crypto_hash key;
    char name[NAME_BYTES + 1], temporary[64];
    if (!name_of(block, &key, name)) return;
    snprintf(temporary, sizeof temporary, "new-%ld-%" PRIuFAST64, (long)getpid(),
             atomic_fetch_add(&cache->temporaries, 1));
    int file = openat(cache->folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    struct crypto_hash sum = crypto_hmac_sha256((struct bytes){key.data, sizeof key.data}, bytes);
    struct iovec parts[2] = {{sum.data, sizeof sum.data}, {(void *)(uintptr_t)bytes.data, bytes.size}};
    bool is_written = writev(file, parts, 2) == (ssize_t)(sizeof sum.data + bytes.size);
    is_written = close(file) == 0 && is_written;
    if (!is_written || renameat(cache->folder, temporary, cache->folder, name) != 0)
        (void)unlinkat(cache->folder, temporary, 0);
    add_written(cache, sizeof sum.data + bytes.size);
}
