#include "server/storage/object_reader.h"

#include <stdlib.h>

#include "server/storage/access_pattern.h"

enum { BLOCK = BLOCK_CACHE_BLOCK_BYTES };

struct object_reader {
    const struct object_access *access;
    struct reading *reading;
    struct opened_object *opened;
    struct access_pattern pattern;
    uint64_t counted_from, counted_until;  // what `reading` was told of while it came
};

// With the user of `opened` that the caller gives; NULL gives it back.
static struct object_reader *reader_of(const struct object_access *access, struct opened_object *opened,
                                       struct reading *reading) {
    struct object_reader *reader = opened ? malloc(sizeof *reader) : NULL;
    if (!reader) {
        opened_object_release(opened);
        return NULL;
    }
    *reader = (struct object_reader){.access = access,
                                     .reading = reading,
                                     .opened = opened,
                                     .pattern = access_pattern_of(opened->object.size_bytes, access->ahead_bytes_max)};
    return reader;
}

struct object_reader *object_reader_new(const struct object_access *access, const struct stored_object *object,
                                        struct reading *reading) {
    return reader_of(access, opened_object_new(object), reading);
}

struct object_reader *object_reader_clone(const struct object_reader *reader) {
    return reader_of(reader->access, opened_object_share(reader->opened), reader->reading);
}

void object_reader_free(struct object_reader *reader) {
    read_ahead_drop(reader->access->ahead, reader->opened);
    opened_object_release(reader->opened);
    free(reader);
}

// --- Ahead ---

static void ask_ahead(const struct object_reader *reader, uint64_t offset, uint64_t size) {
    uint64_t first = offset / BLOCK, end = blocks_of(offset + size);
    read_ahead_ask(reader->access->ahead, reader->opened, first, end - first);
}

static void ask_guesses(const struct object_reader *reader, const struct access_guesses *guesses) {
    for (size_t i = 0; i < guesses->count; i++) ask_ahead(reader, guesses->ranges[i].offset, guesses->ranges[i].size);
}

void object_reader_expect(struct object_reader *reader, uint64_t offset, uint64_t size) {
    uint64_t all = reader->opened->object.size_bytes;
    if (offset < all) access_pattern_expect(&reader->pattern, offset, size < all - offset ? size : all - offset);
}

// --- Missing blocks ---

static bool is_missing(const struct object_reader *reader, uint64_t block) {
    return !block_cache_has(reader->access->blocks->cache, &reader->opened->object.version, block) &&
           !read_ahead_has(reader->access->ahead, reader->opened, block);
}

// How many blocks of those that are asked for to fetch: none that is there. The first read is worth more.
static uint64_t blocks_to_fetch(const struct object_reader *reader, uint64_t block, uint64_t asked) {
    uint64_t size = reader->opened->object.size_bytes, all = blocks_of(size), count = 1;
    if (block == 0) asked = size <= READER_SMALL_BYTES ? all : blocks_of(READER_HEAD_BYTES);
    while (count < asked && block + count < all && is_missing(reader, block + count)) count++;
    return count;
}

static bool fetch(struct object_reader *reader, uint64_t block, uint64_t asked, struct error *error) {
    const struct stored_object *object = &reader->opened->object;
    uint64_t count = blocks_to_fetch(reader, block, asked);
    reader->counted_from = block;
    reader->counted_until = block + count;
    if (block == 0 && object->size_bytes > READER_SMALL_BYTES)
        ask_ahead(reader, object->size_bytes - READER_HEAD_BYTES, READER_HEAD_BYTES);
    return block_store_fill(reader->access->blocks, object, block, count, reader->reading, error);
}

// --- Reading ---

// What one block has from `offset` on.
static bool read_piece(struct object_reader *reader, uint64_t offset, uint8_t *to, size_t size, size_t *got,
                       struct error *error) {
    const struct block_store *blocks = reader->access->blocks;
    const struct stored_object *object = &reader->opened->object;
    uint64_t block = offset / BLOCK, last = (offset + size - 1) / BLOCK;
    for (int tries = 0; tries < 2; tries++) {
        *got = block_cache_copy(blocks->cache, &object->version, block, (size_t)(offset % BLOCK), to, size);
        if (*got) {
            if (block < reader->counted_from || block >= reader->counted_until) reading_adds(reader->reading, *got);
            return true;
        }
        if (read_ahead_wait(reader->access->ahead, reader->opened, block, reader->reading)) continue;
        if (!fetch(reader, block, last - block + 1, error)) return false;
    }
    *got = block_cache_copy(blocks->cache, &object->version, block, (size_t)(offset % BLOCK), to, size);
    return *got ||
           block_store_load(blocks, object, offset, to, *got = size, reader->reading, error);  // memory keeps nothing
}

bool object_reader_read(struct object_reader *reader, uint64_t offset, uint8_t *to, size_t size, size_t *read_bytes,
                        struct error *error) {
    uint64_t all = reader->opened->object.size_bytes, left = offset < all ? all - offset : 0;
    if (size > left) size = (size_t)left;
    *read_bytes = 0;
    if (!reading_goes_on(reader->reading, reader->opened->object.name, error)) return false;
    if (size == 0) return true;
    if (size >= LOAD_RANGE_BYTES_MIN) {
        if (!block_store_load(reader->access->blocks, &reader->opened->object, offset, to, size, reader->reading,
                              error))
            return false;
        *read_bytes = size;
        return true;
    }
    struct access_guesses guesses = access_pattern_note(&reader->pattern, offset, size);
    ask_guesses(reader, &guesses);
    for (size_t got; *read_bytes < size; *read_bytes += got) {
        if (!read_piece(reader, offset + *read_bytes, to + *read_bytes, size - *read_bytes, &got, error)) return false;
    }
    return true;
}
