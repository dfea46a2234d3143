#include "server/storage/block_store.h"

#include <stdlib.h>

enum { BLOCK = BLOCK_CACHE_BLOCK_BYTES };

// --- Between runs ---

// Whether what pins the object names one version in every run: a web server's date or weak ETag may mean two.
static bool is_kept_on_disk(const struct block_store *store, const struct stored_object *object) {
    return store->disk && *object->pin && (!store->bucket->web || *object->pin == '"');
}

// What names this version of the object in every run.
static const char *disk_name(const struct block_store *store, const struct stored_object *object, struct arena *arena) {
    const struct object_bucket *bucket = store->bucket;
    return arena_printf(arena, "%s\n%s\n%s\n%s", bucket->origin, bucket->url, object->name, object->pin);
}

// All of the blocks that begin at `first`, which hold these `size` bytes; or nothing.
static bool read_disk(const struct block_store *store, const struct stored_object *object, uint64_t first, uint8_t *to,
                      size_t size) {
    struct arena arena;
    if (!is_kept_on_disk(store, object)) return false;
    arena_init(&arena, 0);
    const char *name = disk_name(store, object, &arena);
    bool is_good = name;
    for (size_t done = 0; is_good && done < size; done += BLOCK) {
        size_t now = size - done < BLOCK ? size - done : BLOCK;
        is_good = disk_cache_read(store->disk, (struct disk_block){name, first + done / BLOCK}, to + done, now);
    }
    arena_free(&arena);
    return is_good;
}

static void write_disk(const struct block_store *store, const struct stored_object *object, uint64_t first,
                       struct bytes bytes) {
    struct arena arena;
    if (!is_kept_on_disk(store, object)) return;
    arena_init(&arena, 0);
    const char *name = disk_name(store, object, &arena);
    for (size_t done = 0; name && done < bytes.size; done += BLOCK) {
        size_t now = bytes.size - done < BLOCK ? bytes.size - done : BLOCK;
        disk_cache_write(store->disk, (struct disk_block){name, first + done / BLOCK},
                         (struct bytes){bytes.data + done, now});
    }
    arena_free(&arena);
}

// --- Some blocks ---

static void keep(const struct block_store *store, const struct stored_object *object, uint64_t block,
                 struct bytes bytes) {
    for (; bytes.size > 0; block++) {
        size_t size = bytes.size < BLOCK ? bytes.size : BLOCK;
        block_cache_put(store->cache, &object->version, block, (struct bytes){bytes.data, size});
        bytes = (struct bytes){bytes.data + size, bytes.size - size};
    }
}

static size_t bytes_in(const struct stored_object *object, uint64_t first, uint64_t count) {
    uint64_t left = object->size_bytes - first * BLOCK;
    return (size_t)(left < count * BLOCK ? left : count * BLOCK);
}

static bool no_memory(const struct stored_object *object, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, object->name, ERROR_WHOLE_FILE, "no memory left to read it");
}

bool block_store_fill(const struct block_store *store, const struct stored_object *object, uint64_t first,
                      uint64_t count, struct reading *reading, struct error *error) {
    size_t size = bytes_in(object, first, count);
    uint8_t *bytes = malloc(size);
    if (!bytes) return no_memory(object, error);
    struct object_range range = {first * BLOCK, size, bytes};
    bool is_near = read_disk(store, object, first, bytes, size);
    bool is_good = is_near || object_read(store->bucket, object, &range, 1, reading, error);
    if (is_good) keep(store, object, first, (struct bytes){bytes, size});
    if (is_good && !is_near) write_disk(store, object, first, (struct bytes){bytes, size});
    free(bytes);
    return is_good;
}

// --- A large range ---

// As many parts as are worth a request each.
static size_t parts_of(size_t size) {
    size_t parts = size / LOAD_RANGE_BYTES_MIN;
    if (parts < 1) return 1;
    return parts < LOAD_RANGES_USUAL ? parts : LOAD_RANGES_USUAL;
}

static bool load_at_once(const struct block_store *store, const struct stored_object *object, uint64_t offset,
                         uint8_t *to, size_t size, size_t parts, struct reading *reading, struct error *error) {
    struct object_range ranges[LOAD_RANGES_MAX];
    for (size_t i = 0; i < parts; i++) {
        size_t begin = size / parts * i, end = i + 1 == parts ? size : size / parts * (i + 1);
        ranges[i] = (struct object_range){offset + begin, end - begin, to + begin};
    }
    return object_read(store->bucket, object, ranges, parts, reading, error);
}

static bool load(const struct block_store *store, const struct stored_object *object, uint64_t offset, uint8_t *to,
                 size_t size, struct reading *reading, struct error *error) {
    static const size_t usual = (size_t)LOAD_RANGE_BYTES_MAX * LOAD_RANGES_USUAL;
    static const size_t round = (size_t)LOAD_RANGE_BYTES_MAX * LOAD_RANGES_MAX;
    if (size <= usual) return load_at_once(store, object, offset, to, size, parts_of(size), reading, error);
    for (size_t done = 0; done < size; done += round) {
        size_t now = size - done < round ? size - done : round;
        size_t parts = now / LOAD_RANGE_BYTES_MAX + (now % LOAD_RANGE_BYTES_MAX != 0);
        if (!load_at_once(store, object, offset + done, to + done, now, parts, reading, error)) return false;
    }
    return true;
}

// Whole blocks, by way of the disk.
bool block_store_load(const struct block_store *store, const struct stored_object *object, uint64_t offset, uint8_t *to,
                      size_t size, struct reading *reading, struct error *error) {
    if (!is_kept_on_disk(store, object)) return load(store, object, offset, to, size, reading, error);
    uint64_t first = offset / BLOCK;
    size_t all = bytes_in(object, first, blocks_of(offset + size) - first);
    uint8_t *bytes = malloc(all);
    if (!bytes) return no_memory(object, error);
    bool is_near = read_disk(store, object, first, bytes, all);
    bool is_good = is_near || load(store, object, first * BLOCK, bytes, all, reading, error);
    if (is_good) memcpy(to, bytes + offset % BLOCK, size);
    if (is_good && !is_near) write_disk(store, object, first, (struct bytes){bytes, all});
    free(bytes);
    return is_good;
}
