#include "server/http/gzip.h"

#include <limits.h>
#include <zlib.h>

#include "analysis/base/counted_block.h"

enum { GZIP_WINDOW_BITS = 15 + 16, GZIP_LEVEL = 1, GZIP_MEMORY_LEVEL = 8 };

static Bytef *input_of(struct bytes bytes) {
    union {
        const uint8_t *in;
        Bytef *out;
    } pointer = {bytes.data};  // zlib does not write to it, but its struct is not const
    return pointer.out;
}

static z_stream stream_of(struct bytes bytes) {
    return (z_stream){.zalloc = counted_block_new,
                      .zfree = counted_block_free,
                      .next_in = input_of(bytes),
                      .avail_in = (uInt)bytes.size};
}

bool gzip_compress(struct bytes body, struct output *output) {
    z_stream stream = stream_of(body);
    if (body.size > UINT_MAX) return false;
    if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    size_t bound = deflateBound(&stream, (uLong)body.size);
    char *to = bound <= UINT_MAX ? output_reserve(output, bound) : NULL;
    stream.next_out = (Bytef *)to;
    stream.avail_out = (uInt)bound;
    bool is_good = to && deflate(&stream, Z_FINISH) == Z_STREAM_END;
    if (is_good) output_advance(output, stream.total_out);
    deflateEnd(&stream);
    return is_good;
}

bool gzip_inflate(struct bytes gzip, size_t size, struct output *output) {
    if (gzip.size > UINT_MAX || size > UINT_MAX) return false;
    char *to = output_reserve(output, size + 1);
    if (!to) return false;
    z_stream stream = stream_of(gzip);
    if (inflateInit2(&stream, GZIP_WINDOW_BITS) != Z_OK) return false;
    stream.next_out = (Bytef *)to;
    stream.avail_out = (uInt)size + 1;
    bool is_good = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.total_out == size;
    if (is_good) output_advance(output, size);
    inflateEnd(&stream);
    return is_good;
}
