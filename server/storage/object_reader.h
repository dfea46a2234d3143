// Reading one object by position: through the block cache, and ahead when the reader goes on.
//
//     jump    |####|                         one block: the next field is often another jump away
//     on           |####|####|               twice as much, each time a miss follows on the last one
//     on                     |####|####|####|####|...    up to READER_AHEAD_BYTES_MAX, in parallel ranges
//     large read (of a whole program)        straight to where it goes, in parallel ranges; not kept
//
// Reads may come from two threads at once; how far ahead to read is then a guess.
#pragma once

#include "server/storage/block_cache.h"
#include "server/storage/object_service.h"

enum { READER_AHEAD_BYTES_MAX = 8 << 20, READER_RANGE_BYTES_MIN = 512 << 10, READER_RANGES_MAX = 8 };

struct object_reader;

// Copies what it needs of `object`; the rest is borrowed. `reading` follows it (NULL: nobody). NULL: no memory.
struct object_reader *object_reader_new(const struct object_bucket *bucket, struct block_cache *cache,
                                        const struct stored_object *object, struct reading *reading);
struct object_reader *object_reader_clone(const struct object_reader *reader);
void object_reader_free(struct object_reader *reader);

// Reads `size` bytes, fewer where the object ends.
MUST_USE bool object_reader_read(struct object_reader *reader, uint64_t offset, uint8_t *to, size_t size,
                                 size_t *read_bytes, struct error *error);
