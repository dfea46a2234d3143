// Any bytes as the file of a kept block: what was written is read again, and of what anybody did to the file since
// nothing is ever taken for a block, and nothing stays.
//
//     make fuzz T=server_disk_cache
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/storage/disk_cache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK_BYTES_MAX = 1 << 16, SUM_BYTES = 32 };

static const struct disk_block block = {.object = "gs://bucket/vm.xplane.pb 1700000000", .number = 3};
static struct disk_cache *cache;  // one for the whole process
static char folder[64], blocks[96];
static uint8_t read_bytes[BLOCK_BYTES_MAX];

static void require(bool holds) {
    if (!holds) abort();
}

static void close_cache(void) {
    disk_cache_close(cache);
    (void)rmdir(blocks);
    (void)rmdir(folder);
}

static void open_cache(void) {
    struct error error;
    snprintf(folder, sizeof folder, "/dev/shm/hbmview-fuzz-XXXXXX");  // no disk to wait for, where there is one
    if (!mkdtemp(folder)) snprintf(folder, sizeof folder, "/tmp/hbmview-fuzz-XXXXXX");
    require(access(folder, F_OK) == 0 || mkdtemp(folder) != NULL);
    snprintf(blocks, sizeof blocks, "%s/hbmview-blocks", folder);
    cache = disk_cache_open(folder, 1 << 30, &error);
    require(cache != NULL);
    (void)atexit(close_cache);
}

// The one file in it, or "".
static void find_file(char path[PATH_MAX]) {
    DIR *list = opendir(blocks);
    require(list != NULL);
    *path = '\0';
    for (struct dirent *entry; (entry = readdir(list));) {
        if (entry->d_name[0] == '.') continue;
        require(!*path);
        snprintf(path, PATH_MAX, "%s/%s", blocks, entry->d_name);
    }
    closedir(list);
}

static void check_kept(struct bytes bytes) {
    char path[PATH_MAX];
    disk_cache_write(cache, block, bytes);
    require(disk_cache_read(cache, block, read_bytes, bytes.size));
    require(bytes.size == 0 || memcmp(read_bytes, bytes.data, bytes.size) == 0);
    find_file(path);
    require(*path);
}

static bool is_in_file(const char *path, struct bytes bytes) {
    static uint8_t content[BLOCK_BYTES_MAX + SUM_BYTES + 1];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    require(file >= 0);
    ssize_t size = read(file, content, sizeof content);
    close(file);
    return size == (ssize_t)bytes.size && (bytes.size == 0 || memcmp(content, bytes.data, bytes.size) == 0);
}

static void put_into_file(const char *path, struct bytes bytes) {
    int file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    require(file >= 0 && write(file, bytes.data, bytes.size) == (ssize_t)bytes.size);
    close(file);
}

// `content` as the whole file, sum and block.
static void check_damaged(struct bytes content) {
    char path[PATH_MAX];
    size_t size = content.size < SUM_BYTES ? 0 : content.size - SUM_BYTES;
    find_file(path);
    bool is_undamaged = is_in_file(path, content);
    put_into_file(path, content);
    require(disk_cache_read(cache, block, read_bytes, size) == is_undamaged);
    require(!is_undamaged || size == 0 || memcmp(read_bytes, content.data + SUM_BYTES, size) == 0);
    find_file(path);
    require((*path != '\0') == is_undamaged);
    if (*path) (void)unlink(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > BLOCK_BYTES_MAX) return 0;
    if (!cache) open_cache();
    struct bytes rest = size < SUM_BYTES ? (struct bytes){0} : (struct bytes){data + SUM_BYTES, size - SUM_BYTES};
    check_kept((struct bytes){data, size});
    check_kept(rest);
    check_damaged((struct bytes){data, size});
    return 0;
}
