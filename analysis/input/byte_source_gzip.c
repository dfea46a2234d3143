#include "analysis/input/byte_source_gzip.h"

#include <stdlib.h>
#include <zlib.h>

#include "analysis/base/counted_block.h"
#include "analysis/base/refused_memory.h"
#include "analysis/input/byte_source_points.h"

enum {
    INPUT_BYTES = 64 << 10,
    PIECE_BYTES = 64 << 10,
    GZIP_WRAPPER = 16 + MAX_WBITS,  // zlib's way to say: gzip header and checksum
};
// A hostile file inflates a thousandfold, or makes its reader go back and forth; these bound the time one costs. (An
// XSpace is below 2 GiB: protobuf writes no larger message.)
static const uint64_t MAX_CONTENT_BYTES = (uint64_t)8 << 30;
static const uint64_t MAX_WORK_BYTES = (uint64_t)1 << 30;  // beyond MAX_WORK_PASSES over what is known to be there
enum { MAX_WORK_PASSES = 16 };
// Profiles shrink to a sixteenth at best; gzip can shrink emptiness to a thousandth.
enum { MAX_RATIO = 100 };
static const uint64_t SMALL_CONTENT_BYTES = (uint64_t)64 << 20;  // of which any ratio is good

struct byte_source_gzip {
    const struct raw_file *raw;
    struct byte_source_points *points, *own_points;  // the same, unless they are somebody else's
    z_stream state;
    uint64_t content_at;     // content inflated so far by `state`
    uint64_t raw_at;         // the next compressed byte to load into `input`
    struct content_end end;  // as this reader knows it
    bool has_failed;         // ... for a reason that is not the content's
    bool has_begun;
    uint64_t work_bytes;  // read and inflated in all, again and again
    uint64_t save_at;     // the way at which a point may be left
    uint8_t input[INPUT_BYTES];
    uint8_t discarded[PIECE_BYTES];
};

bool byte_source_gzip_recognises(const uint8_t *first, size_t size) {
    return size >= 3 && first[0] == 0x1f && first[1] == 0x8b && first[2] == 0x08;
}

static z_stream fresh_state(void) {
    return (z_stream){.zalloc = counted_block_new, .zfree = counted_block_free};
}

struct byte_source_gzip *byte_source_gzip_open(const struct raw_file *raw) {
    struct byte_source_gzip *stream = memory_or_refusal(calloc(1, sizeof *stream));
    if (!stream) return NULL;
    stream->raw = raw;
    stream->state = fresh_state();
    stream->points = stream->own_points = byte_source_points_new(BYTE_SOURCE_POINTS_SPACING_BYTES);
    if (stream->points && inflateInit2(&stream->state, GZIP_WRAPPER) == Z_OK) return stream;
    byte_source_points_free(stream->own_points);
    free(stream);
    return memory_or_refusal(NULL);
}

void byte_source_gzip_share(struct byte_source_gzip *stream, struct byte_source_points *points) {
    byte_source_points_free(stream->own_points);
    stream->own_points = NULL;
    stream->points = points;
}

void byte_source_gzip_close(struct byte_source_gzip *stream) {
    if (!stream) return;
    byte_source_points_free(stream->own_points);
    inflateEnd(&stream->state);
    free(stream);
}

static bool knows_end(const struct byte_source_gzip *stream) {
    return stream->end.is_ended || stream->end.broken.code != ERROR_NONE;
}

static bool at_known_end(const struct byte_source_gzip *stream) {
    return stream->content_at == stream->end.furthest && knows_end(stream);
}

static void exchange_what_is_known(struct byte_source_gzip *stream) {
    if (!stream->has_failed) byte_source_points_exchange(stream->points, &stream->end);
}

static uint64_t raw_used(const struct byte_source_gzip *stream) {
    return stream->raw_at - stream->state.avail_in;
}

static void end_here(struct byte_source_gzip *stream) {
    stream->end.furthest = stream->content_at;
    stream->end.is_ended = true;
}

static void break_here(struct byte_source_gzip *stream, enum error_code code, const char *what) {
    if (code == ERROR_NO_MEMORY) (void)memory_or_refusal(NULL);
    stream->has_failed |= code == ERROR_NO_MEMORY;
    stream->end.furthest = stream->content_at;
    error_in(&stream->end.broken, code, stream->raw->path, (int64_t)stream->content_at,
             "%s at byte %llu of the compressed file; %llu bytes could be uncompressed before it", what,
             (unsigned long long)raw_used(stream), (unsigned long long)stream->content_at);
}

// Whoever begins does not know where it ends.
static void expect_all(struct byte_source_gzip *stream) {
    if (!stream->has_begun && !knows_end(stream))
        raw_file_expect(stream->raw, stream->raw_at, stream->raw->version.size_bytes - stream->raw_at);
    stream->has_begun = true;
}

// False when there is no compressed byte left; an I/O error breaks the stream.
static bool load_input(struct byte_source_gzip *stream) {
    size_t got;
    struct error unreadable;
    expect_all(stream);
    if (!raw_file_read(stream->raw, stream->raw_at, stream->input, INPUT_BYTES, &got, &unreadable) && got == 0) {
        stream->end.furthest = stream->content_at;
        stream->end.broken = unreadable;
        stream->has_failed = true;
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
            if (stream->end.broken.code == ERROR_NONE) end_here(stream);
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

static bool is_bomb(const struct byte_source_gzip *stream) {
    return stream->content_at > SMALL_CONTENT_BYTES && stream->content_at / MAX_RATIO > raw_used(stream);
}

static void check_limits(struct byte_source_gzip *stream) {
    if (stream->content_at >= MAX_CONTENT_BYTES)
        break_here(stream, ERROR_TOO_BIG, "the content passes the limit of 8 GiB");
    else if (is_bomb(stream))
        break_here(stream, ERROR_TOO_BIG,
                   "the content passes the limit of 100 times the compressed size, which no profile does (if this is "
                   "one, uncompress it with gzip -d and open that)");
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
    bool is_new = stream->content_at > stream->end.furthest;
    if (is_new) stream->end.furthest = stream->content_at;
    if (result == Z_STREAM_END)
        start_next_member(stream);
    else if (result == Z_MEM_ERROR)
        break_here(stream, ERROR_NO_MEMORY, "no memory to uncompress");
    else if (result != Z_OK && result != Z_BUF_ERROR)
        break_here(stream, ERROR_MALFORMED, "the gzip stream is corrupt");
    else if (!has_input && made == 0)
        break_here(stream, ERROR_TRUNCATED, "the gzip stream ends early");
    else if (is_new)  // what was let pass once stays
        check_limits(stream);
}

static uint64_t way(const struct byte_source_gzip *stream) {
    return stream->content_at + raw_used(stream);
}

static void save_point(struct byte_source_gzip *stream) {
    if (way(stream) < stream->save_at || at_known_end(stream)) return;
    struct inflated_place here = {stream->content_at, raw_used(stream)};
    stream->save_at = byte_source_points_save(stream->points, &stream->state, here);
}

static size_t inflate_piece(struct byte_source_gzip *stream, uint8_t *to, size_t size) {
    uint64_t start = stream->content_at;
    stream->state.next_out = to;
    stream->state.avail_out = (uInt)(size < PIECE_BYTES ? size : PIECE_BYTES);
    while (stream->state.avail_out > 0 && !at_known_end(stream)) {
        uint64_t before = way(stream);
        inflate_once(stream);
        stream->work_bytes += way(stream) - before;
        save_point(stream);
    }
    return (size_t)(stream->content_at - start);
}

static void rewind_to_start(struct byte_source_gzip *stream) {
    inflateReset2(&stream->state, GZIP_WRAPPER);
    stream->state.avail_in = 0;
    stream->content_at = 0;
    stream->raw_at = 0;
    stream->save_at = 0;
}

// zlib's state points back to its z_stream, so it is copied in place. Out of memory: from the start, only slower.
static void resume_at(struct byte_source_gzip *stream, struct byte_source_point *point) {
    inflateEnd(&stream->state);
    if (inflateCopy(&stream->state, point->state) != Z_OK) {
        stream->state = fresh_state();
        if (inflateInit2(&stream->state, GZIP_WRAPPER) != Z_OK)
            return break_here(stream, ERROR_NO_MEMORY, "no memory to uncompress");
        return rewind_to_start(stream);
    }
    stream->state.avail_in = 0;
    stream->content_at = point->at.content_at;
    stream->raw_at = point->at.raw_at;
    stream->save_at = 0;
}

static bool is_exhausted(const struct byte_source_gzip *stream, struct error *error) {
    uint64_t pass_bytes = stream->end.furthest + stream->raw->version.size_bytes;
    if (stream->work_bytes <= MAX_WORK_BYTES + MAX_WORK_PASSES * pass_bytes) return false;
    (void)error_in(error, ERROR_TOO_BIG, stream->raw->path, ERROR_WHOLE_FILE,
                   "the order of what is in this .gz makes it too slow to read; uncompress it (gzip -d) and open that");
    return true;
}

// Moves to `offset`, or to the end of what can be read.
static void seek(struct byte_source_gzip *stream, uint64_t offset) {
    struct byte_source_point *point = byte_source_points_find(stream->points, offset);
    bool goes_back = offset < stream->content_at;
    if (point && (goes_back || point->at.content_at > stream->content_at))
        resume_at(stream, point);
    else if (goes_back)
        rewind_to_start(stream);
    byte_source_point_give(point);
    while (stream->content_at < offset && !at_known_end(stream)) {
        uint64_t left = offset - stream->content_at;
        inflate_piece(stream, stream->discarded, left < PIECE_BYTES ? (size_t)left : PIECE_BYTES);
    }
}

static bool is_broken_at(const struct byte_source_gzip *stream, uint64_t offset, struct error *error) {
    if (stream->end.broken.code == ERROR_NONE || offset < stream->end.furthest) return false;
    *error = stream->end.broken;
    return true;
}

// As much of the range as there is, when it is known where it ends.
static size_t known_part(const struct byte_source_gzip *stream, uint64_t offset, size_t size) {
    uint64_t furthest = stream->end.furthest, left = offset < furthest ? furthest - offset : 0;
    return knows_end(stream) && left < size ? (size_t)left : size;
}

bool byte_source_gzip_read(struct byte_source_gzip *stream, uint64_t offset, void *to, size_t size, size_t *read_bytes,
                           struct error *error) {
    *read_bytes = 0;
    exchange_what_is_known(stream);
    size_t wanted = known_part(stream, offset, size);
    if (wanted && is_exhausted(stream, error)) return false;
    if (wanted) seek(stream, offset);
    while (stream->content_at == offset + *read_bytes && *read_bytes < wanted && !at_known_end(stream))
        *read_bytes += inflate_piece(stream, (uint8_t *)to + *read_bytes, wanted - *read_bytes);
    exchange_what_is_known(stream);
    return *read_bytes == size || !is_broken_at(stream, offset + *read_bytes, error);
}

bool byte_source_gzip_reach(struct byte_source_gzip *stream, uint64_t end, uint64_t *reached, struct error *error) {
    exchange_what_is_known(stream);
    if (end > stream->end.furthest && !knows_end(stream)) seek(stream, end);
    exchange_what_is_known(stream);
    *reached = end < stream->end.furthest ? end : stream->end.furthest;
    return *reached == end || !is_broken_at(stream, *reached, error);
}
