// Compresses for tests, quickly: one gzip member. The result is the caller's to free.
#pragma once

#include <stdlib.h>
#include <zlib.h>

#include "proto/bytes.h"

static inline struct bytes gzip_bytes(struct bytes content) {
    z_stream stream = {0};
    if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    size_t capacity = deflateBound(&stream, (uLong)content.size);
    uint8_t *compressed = malloc(capacity);
    if (!compressed) abort();
    stream.next_in = (Bytef *)(uintptr_t)content.data;
    stream.avail_in = (uInt)content.size;
    stream.next_out = compressed;
    stream.avail_out = (uInt)capacity;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END) abort();
    struct bytes result = {compressed, stream.total_out};
    deflateEnd(&stream);
    return result;
}

static inline void gzip_bytes_free(struct bytes compressed) {
    free((void *)(uintptr_t)compressed.data);
}
