#include "server/storage/block_store.h"

#include <stdlib.h>

enum { BLOCK = BLOCK_CACHE_BLOCK_BYTES };

// --- Some blocks ---

static void keep(const struct block_store *store, const struct stored_object *object, uint64_t block,
                 struct bytes bytes) {
    for (; bytes.size > 0; block++) {
        size_t size = bytes.size < BLOCK ? bytes.size : BLOCK;
        block_cache_put(store->cache, &object->version, block, (struct bytes){bytes.data, size});
        bytes = (struct bytes){bytes.data + size, bytes.size - size};
    }
}

bool block_store_fill(const struct block_store *store, const struct stored_object *object, uint64_t first,
                      uint64_t count, struct reading *reading, struct error *error) {
    uint64_t begin = first * BLOCK, left = object->size_bytes - begin;
    size_t size = (size_t)(left < count * BLOCK ? left : count * BLOCK);
    uint8_t *bytes = malloc(size);
    if (!bytes) return error_in(error, ERROR_TOO_BIG, object->name, ERROR_WHOLE_FILE, "no memory left to read it");
    struct object_range range = {begin, size, bytes};
    bool is_good = object_read(store->bucket, object, &range, 1, reading, error);
    if (is_good) keep(store, object, first, (struct bytes){bytes, size});
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

bool block_store_load(const struct block_store *store, const struct stored_object *object, uint64_t offset, uint8_t *to,
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
