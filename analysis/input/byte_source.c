#include "analysis/input/byte_source.h"

#include <stdlib.h>

#include "analysis/base/parallel.h"
#include "analysis/base/refused_memory.h"
#include "analysis/input/byte_source_gzip.h"
#include "analysis/input/raw_file.h"

// After a jump little is read, because the next field is often another jump away; going on reads a whole window.
enum { WINDOW_BYTES = 64 << 10, JUMP_BYTES = 4 << 10 };

struct byte_source {
    struct raw_file raw;
    struct byte_source_gzip *gzip;  // NULL: plain
    uint64_t window_offset;
    size_t window_size;
    uint8_t window[WINDOW_BYTES];
};

static bool out_of_memory(const char *path, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, path, ERROR_WHOLE_FILE, "no memory left to read the file");
}

static bool detect_gzip(struct byte_source *source, struct error *error) {
    size_t got;
    if (!raw_file_read(&source->raw, 0, source->window, 3, &got, error)) return false;
    if (!byte_source_gzip_recognises(source->window, got)) return true;
    source->gzip = byte_source_gzip_open(&source->raw);
    return source->gzip ? true : out_of_memory(source->raw.path, error);
}

static struct byte_source *source_over(struct raw_file raw, struct error *error) {
    struct byte_source *source = memory_or_refusal(malloc(sizeof *source));
    if (!source) {
        raw_file_close(&raw);
        (void)out_of_memory(raw.path, error);
        return NULL;
    }
    source->raw = raw;
    source->gzip = NULL;
    source->window_offset = source->window_size = 0;
    if (detect_gzip(source, error)) return source;
    byte_source_close(source);
    return NULL;
}

struct byte_source *byte_source_open(const struct storage *storage, const char *path, struct error *error) {
    struct raw_file raw;
    return raw_file_open(&raw, storage, path, error) ? source_over(raw, error) : NULL;
}

struct byte_source *byte_source_of_memory(struct bytes content, const char *name, struct error *error) {
    struct raw_file raw;
    raw_file_of_memory(&raw, content, name);
    return source_over(raw, error);
}

struct byte_source *byte_source_clone(const struct byte_source *source) {
    struct raw_file raw;
    if (source->gzip || !raw_file_clone(&source->raw, &raw)) return NULL;
    struct byte_source *clone = memory_or_refusal(malloc(sizeof *clone));
    if (!clone) {
        raw_file_close(&raw);
        return NULL;
    }
    clone->raw = raw;
    clone->gzip = NULL;
    clone->window_offset = clone->window_size = 0;
    return clone;
}

void byte_source_close(struct byte_source *source) {
    if (!source) return;
    byte_source_gzip_close(source->gzip);
    raw_file_close(&source->raw);
    free(source);
}

bool byte_source_is_gzip(const struct byte_source *source) {
    return source->gzip;
}

void byte_source_share(struct byte_source *source, struct byte_source_points *points) {
    if (source->gzip) byte_source_gzip_share(source->gzip, points);
}

const char *byte_source_path(const struct byte_source *source) {
    return source->raw.path;
}

struct file_version byte_source_version(const struct byte_source *source) {
    return source->raw.version;
}

bool byte_source_is_unchanged(const struct byte_source *source) {
    return raw_file_is_unchanged(&source->raw);
}

bool byte_source_reach(struct byte_source *source, uint64_t end, uint64_t *reached, struct error *error) {
    if (source->gzip) return byte_source_gzip_reach(source->gzip, end, reached, error);
    *reached = end < source->raw.version.size_bytes ? end : source->raw.version.size_bytes;
    return true;
}

bool byte_source_size(struct byte_source *source, uint64_t *size_bytes, struct error *error) {
    return byte_source_reach(source, UINT64_MAX, size_bytes, error);
}

void byte_source_expect(const struct byte_source *source, uint64_t offset, uint64_t size) {
    if (!source->gzip) raw_file_expect(&source->raw, offset, size);
}

static bool read_content(struct byte_source *source, uint64_t offset, void *to, size_t size, size_t *got,
                         struct error *error) {
    if (source->gzip) return byte_source_gzip_read(source->gzip, offset, to, size, got, error);
    return raw_file_read(&source->raw, offset, to, size, got, error);
}

static bool in_window(const struct byte_source *source, uint64_t offset) {
    return offset >= source->window_offset && offset - source->window_offset < source->window_size;
}

// Moves the window to start at `offset`; what it holds of that already stays. On false it still holds what lies before
// the place at fault.
static bool move_window(struct byte_source *source, uint64_t offset, struct error *error) {
    uint64_t window_end = source->window_offset + source->window_size;
    bool goes_on = in_window(source, offset) || offset == window_end;
    size_t kept = goes_on ? (size_t)(window_end - offset) : 0;
    if (kept) memmove(source->window, source->window + (offset - source->window_offset), kept);
    size_t wanted = goes_on ? WINDOW_BYTES - kept : JUMP_BYTES;
    size_t got;
    bool ok = read_content(source, offset + kept, source->window + kept, wanted, &got, error);
    source->window_offset = offset;
    source->window_size = kept + got;
    return ok;
}

static struct bytes window_at(const struct byte_source *source, uint64_t offset, size_t size) {
    if (!in_window(source, offset)) return (struct bytes){0};
    size_t skipped = (size_t)(offset - source->window_offset), left = source->window_size - skipped;
    return (struct bytes){source->window + skipped, size < left ? size : left};
}

bool byte_source_peek(struct byte_source *source, uint64_t offset, size_t size, struct bytes *view,
                      struct error *error) {
    if (size > BYTE_SOURCE_PEEK_BYTES) size = BYTE_SOURCE_PEEK_BYTES;
    *view = window_at(source, offset, size);
    if (view->size == size) return true;
    bool ok = move_window(source, offset, error);
    *view = window_at(source, offset, size);
    return ok || view->size == size;
}

static bool ends_before(struct byte_source *source, uint64_t end, uint64_t content_end, struct error *error) {
    return error_in(error, ERROR_TRUNCATED, source->raw.path, (int64_t)content_end,
                    "expected the content to go on to byte %llu, it ends here", (unsigned long long)end);
}

// One piece of a read: from the window, straight to `to` when it is large, else through a new window.
static bool read_piece(struct byte_source *source, uint64_t offset, uint8_t *to, size_t size, size_t *got,
                       struct error *error) {
    if (!in_window(source, offset) && size >= WINDOW_BYTES) return read_content(source, offset, to, size, got, error);
    bool ok = in_window(source, offset) || move_window(source, offset, error);
    struct bytes view = window_at(source, offset, size);
    if (view.size) memcpy(to, view.data, view.size);
    *got = view.size;
    return ok || view.size > 0;
}

bool byte_source_read(struct byte_source *source, uint64_t offset, void *to, size_t size, struct error *error) {
    uint64_t end;
    if (__builtin_add_overflow(offset, size, &end)) return ends_before(source, UINT64_MAX, offset, error);
    for (size_t done = 0, got; done < size; done += got) {
        if (!read_piece(source, offset + done, (uint8_t *)to + done, size - done, &got, error)) return false;
        if (got == 0) return ends_before(source, end, offset + done, error);
    }
    return true;
}

// A load of a large range, in two: fresh memory is half of what it costs, and a thread can do that as well as another.
enum { WORTH_A_THREAD_BYTES = 2 << 20, HALVES = 2 };

struct large_read {
    const struct raw_file *raw;
    uint64_t offset;
    uint8_t *to;
    size_t size;
    struct error errors[HALVES];
    bool is_good[HALVES];
};

static void read_half(void *context, size_t half) {
    struct large_read *read = context;
    size_t middle = read->size / 2, begin = half ? middle : 0, size = half ? read->size - middle : middle, got;
    read->is_good[half] = raw_file_read(read->raw, read->offset + begin, read->to + begin, size, &got,
                                        &read->errors[half]);
}

static bool read_large(const struct raw_file *raw, uint64_t offset, uint8_t *to, size_t size, struct error *error) {
    struct large_read read = {.raw = raw, .offset = offset, .to = to, .size = size};
    parallel_run(read_half, &read, HALVES);
    for (size_t half = 0; half < HALVES; half++) {
        if (read.is_good[half]) continue;
        *error = read.errors[half];
        return false;
    }
    return true;
}

bool byte_source_load(struct byte_source *source, uint64_t offset, uint64_t size, uint64_t limit_bytes,
                      struct arena *arena, struct bytes *loaded, struct error *error) {
    uint64_t end, reached;
    if (size > limit_bytes || size > SIZE_MAX) {
        return error_in(error, ERROR_TOO_BIG, source->raw.path, (int64_t)offset,
                        "%llu bytes in one piece pass the limit of %llu", (unsigned long long)size,
                        (unsigned long long)limit_bytes);
    }
    if (__builtin_add_overflow(offset, size, &end)) end = UINT64_MAX;
    if (!byte_source_reach(source, end, &reached, error)) return false;
    if (reached < end) return ends_before(source, end, reached, error);
    uint8_t *data = arena_push_raw(arena, (size_t)size, 1);
    if (!data) {
        return error_in(error, ERROR_TOO_BIG, source->raw.path, (int64_t)offset, "no memory left to load %llu bytes",
                        (unsigned long long)size);
    }
    if (size >= WINDOW_BYTES) byte_source_expect(source, offset, size);
    bool is_large = !source->gzip && size >= WORTH_A_THREAD_BYTES && raw_file_is_worth_threads(&source->raw);
    bool is_good = is_large ? read_large(&source->raw, offset, data, (size_t)size, error)
                            : byte_source_read(source, offset, data, (size_t)size, error);
    if (!is_good) return false;
    *loaded = (struct bytes){data, (size_t)size};
    return true;
}
