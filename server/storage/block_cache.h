// Blocks of objects that were read, as long as there is room: what is read again costs no request.
//
//     key: which version of which object (stored_object.version), which block of it  ->  up to BLOCK_CACHE_BLOCK_BYTES
//
// The least recently used go first. Thread-safe.
#pragma once

#include "analysis/input/file_version.h"
#include "proto/bytes.h"

enum { BLOCK_CACHE_BLOCK_BYTES = 16 << 10 };

struct block_cache;

struct block_cache *block_cache_new(size_t limit_bytes);  // NULL: no memory
void block_cache_free(struct block_cache *cache);         // NULL is fine

// Copies what the block holds from `skipped` on, at most `size` bytes. 0: it is not there, or has no more.
size_t block_cache_copy(struct block_cache *cache, const struct file_version *of, uint64_t block, size_t skipped,
                        uint8_t *to, size_t size);

bool block_cache_has(struct block_cache *cache, const struct file_version *of, uint64_t block);

// Keeps the bytes as that block, if there is memory for it.
void block_cache_put(struct block_cache *cache, const struct file_version *of, uint64_t block, struct bytes bytes);
