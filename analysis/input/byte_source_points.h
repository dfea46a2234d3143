// What was learnt of one .gz while it was inflated: where to go on, how far it goes, and what is wrong with it.
//
//     content  |--------point--------point--------point--------#~~~~~~~~|
//              whoever inflates leaves points, and may begin   ^ furthest: known to be there; the end is there, or
//              at one that somebody else left                    what is wrong there (`broken`), once that is known
//
// A reader has one of its own, or shares one with all who read the same version of the file, at once or later (the
// server keeps it: server/store/file_store.h); then a .gz is inflated from its beginning once. A point is a copy of
// zlib's state, about 40 KB: it can be made at any byte, whatever blocks and members the stream is made of, and whoever
// goes on from it still checks the member's checksum. (A window of 32 KiB and inflatePrime, as zlib's example zran.c
// does it, save a fifth of that; but there is no point inside a block, which may be as long as the file, and checksums
// are given up.)
//
// Points stand 2 MiB apart, counting content and what it is compressed to, so that a long stretch of nothing (empty
// blocks, empty members) has points as well; tests set them closer. At 64 of them every second one is dropped and the
// distance doubles. What is said about a moment rather than the content (the disk failed, no memory) is not learnt.
// Thread-safe.
#pragma once

#include <stdatomic.h>
#include <stddef.h>

#include "analysis/base/error.h"

struct z_stream_s;
struct byte_source_points;

// How much was inflated, and of how many compressed bytes.
struct inflated_place {
    uint64_t content_at, raw_at;
};

struct byte_source_point {
    struct inflated_place at;
    struct z_stream_s *state;  // read it, or copy it, only
    atomic_uint users;
};

struct content_end {
    uint64_t furthest;    // content that is known to be there
    bool is_ended;        // ... and it ends there
    struct error broken;  // ... or it breaks there (code is not ERROR_NONE)
};

// NULL: no memory.
enum { BYTE_SOURCE_POINTS_SPACING_BYTES = 2 << 20 };
struct byte_source_points *byte_source_points_new(uint64_t spacing_bytes);
void byte_source_points_free(struct byte_source_points *points);

// What it takes now, all points included; at most 2.7 MB.
size_t byte_source_points_bytes(struct byte_source_points *points);

// Afterwards both know what either knew. What was said first about the end holds.
void byte_source_points_exchange(struct byte_source_points *points, struct content_end *known);

// Leaves a point when none is near; without memory for it none. Returns at which sum of content and compressed bytes to
// ask again.
uint64_t byte_source_points_save(struct byte_source_points *points, struct z_stream_s *state, struct inflated_place at);

// The last point at or before that content; NULL: there is none. It stays until it is given back.
struct byte_source_point *byte_source_points_find(struct byte_source_points *points, uint64_t content_at);
void byte_source_point_give(struct byte_source_point *point);  // NULL is fine
