// The bytes of a bucket's objects, from where they are nearest.
//
//     copy   a block that is in memory (block_cache.h)
//     fill   memory <── disk, if all is there, <── network    some blocks in a row, one request
//     load   the reader's own <── the same                    a large range, in parallel requests; not in memory
//
// `reading` follows a call and may stop it (NULL: nobody). Everything is of the version that the object names, or it is
// an error. Thread-safe, because its parts are.
#pragma once

#include "server/storage/block_cache.h"
#include "server/storage/disk_cache.h"
#include "server/storage/object_service.h"

// A load: few requests for what is usual (a program), more where one alone would take long.
enum { LOAD_RANGE_BYTES_MIN = 1 << 20, LOAD_RANGES_USUAL = 3, LOAD_RANGE_BYTES_MAX = 32 << 20, LOAD_RANGES_MAX = 8 };

struct block_store {
    const struct object_bucket *bucket;
    struct block_cache *cache;
    struct disk_cache *disk;  // NULL: nothing is kept between runs
};

static inline uint64_t blocks_of(uint64_t size_bytes) {
    return size_bytes / BLOCK_CACHE_BLOCK_BYTES + (size_bytes % BLOCK_CACHE_BLOCK_BYTES != 0);
}

// Brings the blocks [first, first + count), all of them inside the object, into memory.
MUST_USE bool block_store_fill(const struct block_store *store, const struct stored_object *object, uint64_t first,
                               uint64_t count, struct reading *reading, struct error *error);

// The bytes [offset, offset + size), all of them inside the object.
MUST_USE bool block_store_load(const struct block_store *store, const struct stored_object *object, uint64_t offset,
                               uint8_t *to, size_t size, struct reading *reading, struct error *error);
