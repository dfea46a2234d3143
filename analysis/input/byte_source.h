// One input file, read by position: the only way the core gets at bytes.
//
//     plain file:  a window on it         [ ....====.......................... ]   any offset, any order
//     .gz (by its magic bytes, not its name): the same over its content (byte_source_gzip.h)
//
// No mmap: a file that shrinks while we read gives ERROR_TRUNCATED, not SIGBUS, and NFS, FUSE and files far larger than
// memory work alike. Small reads are served from the window, so that walking the fields of a message costs no call of
// the storage (storage.h) per field. Only regular files are opened (a FIFO or a folder is ERROR_UNREADABLE). A file
// that grows while it is read is read as it was when opened. Offsets, also those in errors, count bytes of the content:
// for a .gz, uncompressed ones. Not thread-safe: one reader, one source.
#pragma once

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "analysis/input/byte_source_points.h"
#include "analysis/input/storage.h"

struct byte_source;

// Opens `path` (kept for messages, not copied: it must outlive the source). NULL on error, *error filled with the file.
MUST_USE struct byte_source *byte_source_open(const struct storage *storage, const char *path, struct error *error);

// Bytes in memory, plain or gzip (the built-in sample; tests); `name` stands in messages. Both are borrowed.
MUST_USE struct byte_source *byte_source_of_memory(struct bytes content, const char *name, struct error *error);

// Another reader of the same open file, for another thread. NULL when there is none to be had: of a .gz (its content
// can only be read in order), or for want of memory or descriptors.
struct byte_source *byte_source_clone(const struct byte_source *source);

void byte_source_close(struct byte_source *source);  // NULL is fine

// What is learnt of a .gz goes to `points`, and is taken from there: those of this version of the file, which must
// outlive the source. Before anything is read; a plain file needs none.
bool byte_source_is_gzip(const struct byte_source *source);
void byte_source_share(struct byte_source *source, struct byte_source_points *points);

const char *byte_source_path(const struct byte_source *source);

// The version of the file that was opened, and whether the open file still is of it.
struct file_version byte_source_version(const struct byte_source *source);
bool byte_source_is_unchanged(const struct byte_source *source);

// How far the content goes towards `end`: *reached = min(end, size of the content). False when a .gz breaks before
// `end`; *reached is then that place, and what lies before it can be read. A plain file answers without reading.
MUST_USE bool byte_source_reach(struct byte_source *source, uint64_t end, uint64_t *reached, struct error *error);

// The size of the content. For a .gz it is known only at the end of the stream, so asking inflates it all.
MUST_USE bool byte_source_size(struct byte_source *source, uint64_t *size_bytes, struct error *error);

// All of that range will be read, in order: it may be fetched ahead, and whoever waits for it is told (reading.h).
// byte_source_load says it by itself; a .gz whose end is not known is expected as a whole when its reading begins.
void byte_source_expect(const struct byte_source *source, uint64_t offset, uint64_t size);

// Copies exactly `size` bytes from `offset` into `to`. ERROR_TRUNCATED when the content ends before.
MUST_USE bool byte_source_read(struct byte_source *source, uint64_t offset, void *to, size_t size, struct error *error);

// Up to `size` (at most BYTE_SOURCE_PEEK_BYTES) bytes at `offset`, as a view that is valid until the next call. Fewer
// at the end of the content; empty at or past it.
enum { BYTE_SOURCE_PEEK_BYTES = 64 };
MUST_USE bool byte_source_peek(struct byte_source *source, uint64_t offset, size_t size, struct bytes *view,
                               struct error *error);

// Loads the range into the arena. Refuses a size over `limit_bytes` with ERROR_TOO_BIG before allocating, and a range
// that ends past the content with ERROR_TRUNCATED.
MUST_USE bool byte_source_load(struct byte_source *source, uint64_t offset, uint64_t size, uint64_t limit_bytes,
                               struct arena *arena, struct bytes *loaded, struct error *error);
