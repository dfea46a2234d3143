// The content of a .gz, by position, although gzip can only be read forwards.
//
//     compressed   |======================================================|
//     content      |---------point---------point---------point----#.......|
//                                                   at: inflated so far ^
//     Going back (or far ahead) resumes from the nearest point that was left on the way (byte_source_points.h). So a
//     walk that steps over a large plane and then looks into it costs one inflation of the file, not one per step; and
//     where readers share their points, one for them all.
//
// Several gzip members in a row are one content. A stream that ends early or is corrupt is readable up to that place:
// `broken` says what is wrong there. So is one that passes 8 GiB, or a hundred times what it was made of: it would hold
// its reader for a minute, and fill the memory, from a file of some MB. Bounded memory whatever the input. Not
// thread-safe.
#pragma once

#include "analysis/input/byte_source_points.h"
#include "analysis/input/raw_file.h"

struct byte_source_gzip;

bool byte_source_gzip_recognises(const uint8_t *first, size_t size);  // the magic bytes 1f 8b 08

// NULL when out of memory. `raw` is borrowed.
struct byte_source_gzip *byte_source_gzip_open(const struct raw_file *raw);

// Before anything is read: its points are these, which must outlive it, instead of some of its own.
void byte_source_gzip_share(struct byte_source_gzip *stream, struct byte_source_points *points);

void byte_source_gzip_close(struct byte_source_gzip *stream);

// Reads up to `size` bytes of content; fewer, without an error, only where the content ends. At a broken place: what
// lies before it, and false.
MUST_USE bool byte_source_gzip_read(struct byte_source_gzip *stream, uint64_t offset, void *to, size_t size,
                                    size_t *read_bytes, struct error *error);

// How far the content goes towards `end`: min(end, its size). False when it breaks before; *reached is that place.
MUST_USE bool byte_source_gzip_reach(struct byte_source_gzip *stream, uint64_t end, uint64_t *reached,
                                     struct error *error);
