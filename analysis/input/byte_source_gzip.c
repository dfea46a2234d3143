#include "analysis/input/byte_source_gzip.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    INPUT_BYTES = 64 << 10,
    PIECE_BYTES = 64 << 10,
    MAX_POINTS = 64,
    FIRST_SPACING_BYTES = 1 << 20,
    GZIP_WRAPPER = 16 + MAX_WBITS,  // zlib's way to say: gzip header and checksum
};
// A hostile file inflates a thousandfold, or makes its reader go back and forth; these bound the time one costs. (An
// XSpace is below 2 GiB: protobuf writes no larger message.)
static const uint64_t MAX_CONTENT_BYTES = (uint64_t)8 << 30;
static const uint64_t MAX_WORK_BYTES = (uint64_t)1 << 30;  // beyond MAX_WORK_PASSES over what is known to be there
enum { MAX_WORK_PASSES = 16 };

struct point {
    z_stream state;  // a copy made by inflateCopy
    uint64_t content_at;
    uint64_t raw_at;
};

struct byte_source_gzip {
    const struct raw_file *raw;
    z_stream state;
    uint64_t content_at;  // content inflated so far by `state`
    uint64_t raw_at;      // the next compressed byte to load into `input`
    uint64_t furthest;    // content that is known to be there
    bool ended;           // ... and it ends at `furthest`
    struct error broken;  // ... or it breaks at `furthest` (code is not ERROR_NONE)
    uint64_t work_bytes;  // inflated in all, again and again
    uint64_t spacing;
    size_t point_count;
    struct point *points[MAX_POINTS];
    uint8_t input[INPUT_BYTES];
    uint8_t discarded[PIECE_BYTES];
};

bool byte_source_gzip_recognises(const uint8_t *first, size_t size) {
    return size >= 3 && first[0] == 0x1f && first[1] == 0x8b && first[2] == 0x08;
}

struct byte_source_gzip *byte_source_gzip_open(const struct raw_file *raw) {
    struct byte_source_gzip *stream = calloc(1, sizeof *stream);
    if (!stream) return NULL;
    stream->raw = raw;
    stream->spacing = FIRST_SPACING_BYTES;
    if (inflateInit2(&stream->state, GZIP_WRAPPER) == Z_OK) return stream;
    free(stream);
    return NULL;
}

static void drop_point(struct point *point) {
    inflateEnd(&point->state);
    free(point);
}

void byte_source_gzip_close(struct byte_source_gzip *stream) {
    if (!stream) return;
    for (size_t i = 0; i < stream->point_count; i++) drop_point(stream->points[i]);
    inflateEnd(&stream->state);
    free(stream);
}

static bool at_known_end(const struct byte_source_gzip *stream) {
    return stream->content_at == stream->furthest && (stream->ended || stream->broken.code != ERROR_NONE);
}

static void end_here(struct byte_source_gzip *stream) {
    stream->furthest = stream->content_at;
    stream->ended = true;
}

static void break_here(struct byte_source_gzip *stream, enum error_code code, const char *what) {
    stream->furthest = stream->content_at;
    error_in(&stream->broken, code, stream->raw->path, (int64_t)stream->content_at,
             "%s at byte %llu of the compressed file; %llu bytes could be uncompressed before it", what,
             (unsigned long long)(stream->raw_at - stream->state.avail_in), (unsigned long long)stream->content_at);
}

// False when there is no compressed byte left; an I/O error breaks the stream.
static bool load_input(struct byte_source_gzip *stream) {
    size_t got;
    struct error unreadable;
    if (!raw_file_read(stream->raw, stream->raw_at, stream->input, INPUT_BYTES, &got, &unreadable) && got == 0) {
        stream->furthest = stream->content_at;
        stream->broken = unreadable;
        return false;
    }
    stream->raw_at += got;
    stream->state.next_in = stream->input;
    stream->state.avail_in = (uInt)got;
    return got > 0;
}

// After the end of a member: another one, zeros for padding, or nothing may follow.
static void start_next_member(struct byte_source_gzip *stream) {
    z_stream *state = &stream->state;
    for (;;) {
        if (state->avail_in == 0 && !load_input(stream)) {
            if (stream->broken.code == ERROR_NONE) end_here(stream);
            return;
        }
        if (*state->next_in != 0) break;
        state->next_in++;
        state->avail_in--;
    }
    if (*state->next_in == 0x1f)
        inflateReset(state);
    else
        break_here(stream, ERROR_MALFORMED, "expected the end of the gzip stream or another one, found other bytes");
}

// At the end of the input zlib may still hold content, so it is asked once more before the stream counts as cut.
static void inflate_once(struct byte_source_gzip *stream) {
    z_stream *state = &stream->state;
    bool has_input = state->avail_in > 0 || load_input(stream);
    if (!has_input && at_known_end(stream)) return;  // unreadable
    uInt room = state->avail_out;
    int result = inflate(state, Z_NO_FLUSH);
    uInt made = room - state->avail_out;
    stream->content_at += made;
    stream->work_bytes += made;
    if (stream->content_at > stream->furthest) stream->furthest = stream->content_at;
    if (result == Z_STREAM_END)
        start_next_member(stream);
    else if (result != Z_OK && result != Z_BUF_ERROR)
        break_here(stream, ERROR_MALFORMED, "the gzip stream is corrupt");
    else if (!has_input && made == 0)
        break_here(stream, ERROR_TRUNCATED, "the gzip stream ends early");
    else if (stream->content_at >= MAX_CONTENT_BYTES)
        break_here(stream, ERROR_TOO_BIG, "the content passes the limit of 8 GiB");
}

static void drop_every_second_point(struct byte_source_gzip *stream) {
    size_t kept = 0;
    for (size_t i = 0; i < stream->point_count; i++) {
        if (i % 2)
            stream->points[kept++] = stream->points[i];
        else
            drop_point(stream->points[i]);
    }
    stream->point_count = kept;
    stream->spacing *= 2;
}

// Without memory for it the stream goes on, only slower.
static void save_point(struct byte_source_gzip *stream) {
    uint64_t last = stream->point_count ? stream->points[stream->point_count - 1]->content_at : 0;
    if (stream->content_at < last + stream->spacing || at_known_end(stream)) return;
    if (stream->point_count == MAX_POINTS) drop_every_second_point(stream);
    struct point *point = calloc(1, sizeof *point);
    if (!point) return;
    if (inflateCopy(&point->state, &stream->state) != Z_OK) {
        free(point);
        return;
    }
    point->content_at = stream->content_at;
    point->raw_at = stream->raw_at - stream->state.avail_in;
    stream->points[stream->point_count++] = point;
}

static size_t inflate_piece(struct byte_source_gzip *stream, uint8_t *to, size_t size) {
    uint64_t start = stream->content_at;
    stream->state.next_out = to;
    stream->state.avail_out = (uInt)(size < PIECE_BYTES ? size : PIECE_BYTES);
    while (stream->state.avail_out > 0 && !at_known_end(stream)) inflate_once(stream);
    save_point(stream);
    return (size_t)(stream->content_at - start);
}

static void rewind_to_start(struct byte_source_gzip *stream) {
    inflateReset2(&stream->state, GZIP_WRAPPER);
    stream->state.avail_in = 0;
    stream->content_at = 0;
    stream->raw_at = 0;
}

// zlib's state points back to its z_stream, so it is copied in place. Out of memory: from the start, only slower.
static void resume_at(struct byte_source_gzip *stream, struct point *point) {
    inflateEnd(&stream->state);
    if (inflateCopy(&stream->state, &point->state) != Z_OK) {
        stream->state = (z_stream){0};
        if (inflateInit2(&stream->state, GZIP_WRAPPER) != Z_OK)
            return break_here(stream, ERROR_TOO_BIG, "no memory to uncompress");
        return rewind_to_start(stream);
    }
    stream->state.avail_in = 0;
    stream->content_at = point->content_at;
    stream->raw_at = point->raw_at;
}

static struct point *nearest_point(const struct byte_source_gzip *stream, uint64_t offset) {
    size_t low = 0, high = stream->point_count;  // points before `low` are at or before `offset`
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (stream->points[middle]->content_at <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? stream->points[low - 1] : NULL;
}

static bool is_exhausted(const struct byte_source_gzip *stream, struct error *error) {
    if (stream->work_bytes <= MAX_WORK_BYTES + MAX_WORK_PASSES * stream->furthest) return false;
    (void)error_in(error, ERROR_TOO_BIG, stream->raw->path, ERROR_WHOLE_FILE,
                   "the order of what is in this .gz makes it too slow to read; uncompress it (gzip -d) and open that");
    return true;
}

// Moves to `offset`, or to the end of what can be read.
static void seek(struct byte_source_gzip *stream, uint64_t offset) {
    struct point *point = nearest_point(stream, offset);
    bool goes_back = offset < stream->content_at;
    if (point && (goes_back || point->content_at > stream->content_at))
        resume_at(stream, point);
    else if (goes_back)
        rewind_to_start(stream);
    while (stream->content_at < offset && !at_known_end(stream)) {
        uint64_t left = offset - stream->content_at;
        inflate_piece(stream, stream->discarded, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES);
    }
}

static bool is_broken_at(const struct byte_source_gzip *stream, uint64_t offset, struct error *error) {
    if (stream->broken.code == ERROR_NONE || offset < stream->furthest) return false;
    *error = stream->broken;
    return true;
}

bool byte_source_gzip_read(struct byte_source_gzip *stream, uint64_t offset, void *to, size_t size, size_t *read_bytes,
                           struct error *error) {
    *read_bytes = 0;
    if (size == 0) return true;
    if (is_exhausted(stream, error)) return false;
    seek(stream, offset);
    while (stream->content_at == offset + *read_bytes && *read_bytes < size && !at_known_end(stream))
        *read_bytes += inflate_piece(stream, (uint8_t *)to + *read_bytes, size - *read_bytes);
    return *read_bytes == size || !is_broken_at(stream, offset + *read_bytes, error);
}

bool byte_source_gzip_reach(struct byte_source_gzip *stream, uint64_t end, uint64_t *reached, struct error *error) {
    if (end > stream->furthest) seek(stream, end);
    *reached = end < stream->furthest ? end : stream->furthest;
    return *reached == end || !is_broken_at(stream, *reached, error);
}
