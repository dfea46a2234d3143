// Any bytes as a .gz, and any bytes in one: what is compressed is read back as it was, from the front and from
// anywhere, by one reader and by several that share their points; what only claims to be compressed gives the bytes
// that zlib makes of it from front to back, and ends where that ends.
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/input/byte_source.h"
#include "tests/unit/gzip_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { READ_BYTES = 64, PLACES = 4, READERS = 3, POINTS_SPACING_BYTES = 100, CONTENT_BYTES_MAX = 4 << 20 };

static void require(bool holds) {
    if (!holds) abort();
}

static struct byte_source *open_bytes(struct bytes bytes) {
    struct error error;
    struct byte_source *source = byte_source_of_memory(bytes, "input.gz", &error);
    require(source != NULL);
    return source;
}

// Places that jump to and fro.
static uint64_t place_of(size_t number, uint64_t size) {
    return size ? (number * 2654435761U + number * number) % size : 0;
}

// What zlib itself makes of it, from front to back: members one after the other, as far as they are good.
static size_t inflate_plainly(struct bytes bytes, uint8_t *to, size_t room) {
    z_stream state = {.next_in = (Bytef *)(uintptr_t)bytes.data, .avail_in = (uInt)bytes.size};
    require(inflateInit2(&state, 16 + MAX_WBITS) == Z_OK);
    state.next_out = to;
    state.avail_out = (uInt)room;
    for (int result = Z_OK; result == Z_OK && state.avail_out;) {
        result = inflate(&state, Z_NO_FLUSH);
        while (result == Z_STREAM_END && state.avail_in && *state.next_in == 0) state.next_in++, state.avail_in--;
        if (result == Z_STREAM_END && state.avail_in && *state.next_in == 0x1f) result = inflateReset(&state);
    }
    inflateEnd(&state);
    return room - state.avail_out;
}

// Readers that share what they learn, each reading here and there: every byte is that of a plain inflate, and what is
// wrong is wrong at the same place for all.
static void check_shared(struct bytes bytes, struct bytes plain) {
    struct byte_source_points *points = byte_source_points_new(POINTS_SPACING_BYTES);
    struct error error = {.code = ERROR_NONE}, first = error;
    uint8_t read[READ_BYTES];
    require(points != NULL);
    for (size_t reader = 0; reader < READERS; reader++) {
        struct byte_source *source = open_bytes(bytes);
        byte_source_share(source, points);
        for (size_t i = 0; i < PLACES && plain.size; i++) {
            uint64_t at = place_of(reader * PLACES + i + 1, plain.size), left = plain.size - at;
            size_t wanted = left < READ_BYTES ? (size_t)left : READ_BYTES;
            require(byte_source_read(source, at, read, wanted, &error));
            require(memcmp(read, plain.data + at, wanted) == 0);
        }
        uint64_t reached, end = plain.size + 1;
        bool is_longer = byte_source_reach(source, end, &reached, &error);
        if (reader == 0) first = error;
        require(is_longer || strcmp(error.message, first.message) == 0);
        require(reached == plain.size || plain.size == CONTENT_BYTES_MAX);
        byte_source_close(source);
    }
    byte_source_points_free(points);
}

static void check_back(struct bytes content) {
    struct bytes compressed = gzip_bytes(content);
    struct byte_source *source = open_bytes(compressed);
    struct error error;
    uint64_t size;
    uint8_t read[READ_BYTES];
    for (size_t i = 0; i < PLACES && content.size; i++) {
        uint64_t at = place_of(i, content.size), left = content.size - at;
        size_t wanted = left < READ_BYTES ? (size_t)left : READ_BYTES;
        require(byte_source_read(source, at, read, wanted, &error));
        require(memcmp(read, content.data + at, wanted) == 0);
    }
    require(byte_source_size(source, &size, &error) && size == content.size);
    require(!byte_source_read(source, content.size, read, 1, &error) && error.code == ERROR_TRUNCATED);
    byte_source_close(source);
    check_shared(compressed, content);
    gzip_bytes_free(compressed);
}

static void check_claimed(struct bytes bytes) {
    if (bytes.size < 3 || memcmp(bytes.data, "\x1f\x8b\x08", 3) != 0) return;
    static uint8_t content[CONTENT_BYTES_MAX];
    check_shared(bytes, (struct bytes){content, inflate_plainly(bytes, content, sizeof content)});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check_back((struct bytes){data, size});
    check_claimed((struct bytes){data, size});
    return 0;
}
