#include "server/storage/object_reader.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { BLOCK = BLOCK_CACHE_BLOCK_BYTES };

struct object_reader {
    const struct object_bucket *bucket;
    struct block_cache *cache;
    struct reading *reading;
    struct stored_object object;
    char *texts;                      // the object's name and pin
    atomic_uint_fast64_t follows_on;  // where the last miss ended: one that begins here reads further ahead
    atomic_uint_fast64_t ahead_bytes;
};

struct object_reader *object_reader_new(const struct object_bucket *bucket, struct block_cache *cache,
                                        const struct stored_object *object, struct reading *reading) {
    size_t name_size = strlen(object->name) + 1, pin_size = strlen(object->pin) + 1;
    struct object_reader *reader = calloc(1, sizeof *reader);
    char *texts = malloc(name_size + pin_size);
    if (!reader || !texts) {
        free(reader);
        free(texts);
        return NULL;
    }
    memcpy(texts, object->name, name_size);
    memcpy(texts + name_size, object->pin, pin_size);
    reader->bucket = bucket;
    reader->cache = cache;
    reader->reading = reading;
    reader->object = *object;
    reader->object.name = texts;
    reader->object.pin = texts + name_size;
    reader->texts = texts;
    atomic_init(&reader->follows_on, UINT64_MAX);
    return reader;
}

struct object_reader *object_reader_clone(const struct object_reader *reader) {
    return object_reader_new(reader->bucket, reader->cache, &reader->object, reader->reading);
}

void object_reader_free(struct object_reader *reader) {
    free(reader->texts);
    free(reader);
}

// --- Fetching ---

// In so many ranges at once as are worth a request each.
static bool fetch(const struct object_reader *reader, uint64_t offset, uint8_t *to, size_t size, struct error *error) {
    struct object_range ranges[READER_RANGES_MAX];
    size_t count = size / READER_RANGE_BYTES_MIN;
    if (count < 1) count = 1;
    if (count > READER_RANGES_MAX) count = READER_RANGES_MAX;
    for (size_t i = 0; i < count; i++) {
        size_t begin = size / count * i, end = i + 1 == count ? size : size / count * (i + 1);
        ranges[i] = (struct object_range){offset + begin, end - begin, to + begin};
    }
    return object_read(reader->bucket, &reader->object, ranges, count, reader->reading, error);
}

static void keep(const struct object_reader *reader, uint64_t first_block, struct bytes bytes) {
    for (uint64_t block = first_block; bytes.size > 0; block++) {
        size_t size = bytes.size < BLOCK ? bytes.size : BLOCK;
        block_cache_put(reader->cache, &reader->object.version, block, (struct bytes){bytes.data, size});
        bytes = (struct bytes){bytes.data + size, bytes.size - size};
    }
}

// How many blocks from `block` on to fetch, of which `wanted` are asked for: none that is there, none past the end.
static uint64_t blocks_to_fetch(struct object_reader *reader, uint64_t block, uint64_t wanted) {
    uint64_t all = (reader->object.size_bytes + BLOCK - 1) / BLOCK, count = 1;
    uint64_t ahead = atomic_load(&reader->follows_on) == block ? atomic_load(&reader->ahead_bytes) * 2 : BLOCK;
    if (ahead > READER_AHEAD_BYTES_MAX) ahead = READER_AHEAD_BYTES_MAX;
    uint64_t most = ahead / BLOCK > wanted ? ahead / BLOCK : wanted;
    while (count < most && block + count < all &&
           !block_cache_has(reader->cache, &reader->object.version, block + count))
        count++;
    atomic_store(&reader->ahead_bytes, ahead);
    atomic_store(&reader->follows_on, block + count);
    return count;
}

// What of the object lies in these blocks.
static size_t bytes_in(const struct object_reader *reader, uint64_t block, uint64_t count) {
    uint64_t begin = block * BLOCK, left = reader->object.size_bytes - begin;
    return (size_t)(left < count * BLOCK ? left : count * BLOCK);
}

static bool fetch_blocks(struct object_reader *reader, uint64_t block, uint64_t wanted, struct error *error) {
    uint64_t count = blocks_to_fetch(reader, block, wanted);
    size_t size = bytes_in(reader, block, count);
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return error_in(error, ERROR_TOO_BIG, reader->object.name, ERROR_WHOLE_FILE, "no memory left to read it");
    bool is_good = fetch(reader, block * BLOCK, bytes, size, error);
    if (is_good) keep(reader, block, (struct bytes){bytes, size});
    free(bytes);
    return is_good;
}

// --- Reading ---

// Through one block at `offset`.
static bool read_piece(struct object_reader *reader, uint64_t offset, uint8_t *to, size_t size, size_t *got,
                       struct error *error) {
    uint64_t block = offset / BLOCK, last = (offset + size - 1) / BLOCK;
    size_t skipped = (size_t)(offset % BLOCK);
    for (int tries = 0; tries < 2; tries++) {
        *got = block_cache_copy(reader->cache, &reader->object.version, block, skipped, to, size);
        if (*got) return true;
        if (!fetch_blocks(reader, block, last - block + 1, error)) return false;
    }
    return fetch(reader, offset, to, *got = size, error);  // the cache is too small to keep anything
}

bool object_reader_read(struct object_reader *reader, uint64_t offset, uint8_t *to, size_t size, size_t *read_bytes,
                        struct error *error) {
    uint64_t left = offset < reader->object.size_bytes ? reader->object.size_bytes - offset : 0;
    if (size > left) size = (size_t)left;
    *read_bytes = 0;
    if (size >= READER_RANGE_BYTES_MIN) {
        if (!fetch(reader, offset, to, size, error)) return false;
        *read_bytes = size;
    }
    for (size_t got; *read_bytes < size; *read_bytes += got) {
        if (!read_piece(reader, offset + *read_bytes, to + *read_bytes, size - *read_bytes, &got, error)) return false;
    }
    return true;
}
