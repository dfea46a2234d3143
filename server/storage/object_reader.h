// Reading one object by position: through the blocks that are kept, and ahead of the reader.
//
//     small object     |############|            all of it with the first read
//     first read       |####|        |##|        a large one: its head, and its tail at the same time (what is short,
//                                                and the names that a writer adds last, lie there)
//     then             |##|>>>>>>>>>             where it goes on, or where it jumps to: access_pattern.h, read_ahead.h
//     large read       |####|####|####|          a whole program, straight to where it goes: block_store.h
//
// A reader is for one thread at a time; a clone, for another one, has a pattern of its own.
#pragma once

#include "server/storage/read_ahead.h"

enum { READER_SMALL_BYTES = 512 << 10, READER_HEAD_BYTES = 256 << 10, READER_AHEAD_BYTES_MAX = 8 << 20 };

struct object_reader;

// What all readers of a bucket share.
struct object_access {
    struct block_store *blocks;
    struct read_ahead *ahead;
    uint64_t ahead_bytes_max;  // how far one reader may read ahead
};

// Copies what it needs of `object`; the rest is borrowed. `reading` follows it (NULL: nobody). NULL: no memory.
struct object_reader *object_reader_new(const struct object_access *access, const struct stored_object *object,
                                        struct reading *reading);
struct object_reader *object_reader_clone(const struct object_reader *reader);
void object_reader_free(struct object_reader *reader);

// All of the range will be read, in order.
void object_reader_expect(struct object_reader *reader, uint64_t offset, uint64_t size);

// Reads `size` bytes, fewer where the object ends.
MUST_USE bool object_reader_read(struct object_reader *reader, uint64_t offset, uint8_t *to, size_t size,
                                 size_t *read_bytes, struct error *error);
