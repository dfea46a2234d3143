// Reading a pprof file, part by part: pprof_load.c counts what is there, pprof_frames.c makes functions, frames and
// locations, pprof_samples.c the samples and their groups. Private to this folder.
#pragma once

#include "analysis/base/id_map.h"
#include "analysis/device_memory/device_memory_profile.h"
#include "analysis/device_memory/pprof_names.h"
#include "proto/wire.h"

enum { PPROF_MAX_SAMPLE_TYPES = 64 };

// How many of each the profile holds.
struct pprof_counts {
    uint64_t sample_types, samples, locations, lines, functions, names;
    uint64_t sample_bytes;  // of all samples
    uint64_t most_lines;    // of one location
};

// The frames of one location, innermost first: frame_of_line[first .. first + count).
struct pprof_location {
    uint32_t first, count;
};

struct pprof_loader {
    struct bytes blob;
    struct arena *arena;
    struct device_memory_profile *profile;
    struct error *error;
    struct pprof_counts counts;
    struct pprof_names names;
    struct id_map location_of_id;
    struct pprof_location *locations;  // locations[0] stands for ids that name nothing
    uint32_t location_count;
    uint32_t *frame_of_line;
};

// A walk over the fields of one message inside the blob.
struct pprof_walk {
    struct wire wire;
    const char *message_name;
};
static inline struct pprof_walk pprof_walk_over(struct bytes message, const char *message_name) {
    return (struct pprof_walk){wire_open(message), message_name};
}

// False, *error filled, when the walk ended at a fault.
bool pprof_walk_ended(const struct pprof_loader *loader, const struct pprof_walk *walk);

// True, *error filled, when `count` is past the limit `most`.
bool pprof_is_too_many(const struct pprof_loader *loader, uint64_t count, int64_t most, const char *what);

bool pprof_out_of_memory(const struct pprof_loader *loader);

// Fills counts, and refuses what is too many.
MUST_USE bool pprof_load_counts(struct pprof_loader *loader);

// Fills functions, frames and locations. The names are there.
MUST_USE bool pprof_load_frames(struct pprof_loader *loader);

// Whether a file belongs to an installed package or to Python rather than to the user's program.
bool pprof_is_library(struct bytes file);

// Fills samples, stacks and groups. The frames are there.
MUST_USE bool pprof_load_samples(struct pprof_loader *loader);
