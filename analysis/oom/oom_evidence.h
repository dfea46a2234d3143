// What the buffers of the program itself say about its out-of-memory: a digest of its HBM view.
//
//     memory_view ──> totals by category, peak, padding
//                 ──> the largest buffers at the peak, each with its words
//                 ──> what the peak is made of: backward pass, float32, replicated arguments
#pragma once

#include "analysis/memory/buffer_description.h"
#include "analysis/hlo/parameter_sharding.h"

enum { OOM_LARGEST_MAX = 12 };

struct oom_buffer {
    int64_t size_bytes, unpadded_bytes;
    int64_t logical_buffer_id;  // -1 for none
    enum allocation_category category;
    enum parameter_sharding sharding;  // of an argument of a program of several partitions
    struct buffer_description words;
    const char *source;  // "train.py:55", or NULL
};

struct oom_evidence {
    struct memory_totals totals;
    int64_t peak_bytes, padding_bytes;
    int64_t argument_bytes;  // parameters and donated ones
    int64_t backward_bytes;  // at the peak, of operations under jvp or transpose
    int64_t float32_bytes;   // at the peak, temporaries and arguments that hold 32-bit floats
    int64_t repeated_bytes;  // the most that temporaries of one and the same size hold together
    int64_t repeated_size_bytes;
    int64_t repeated_count;
    int64_t partitions;
    struct oom_buffer largest[OOM_LARGEST_MAX];  // the largest first
    size_t largest_count;
};

// Reads the evidence of `space` of the module onto `arena`.
MUST_USE bool oom_evidence_read(const struct hlo_module *module, int64_t space, struct arena *arena,
                                struct oom_evidence *evidence, struct error *error);

// What a replicated argument would take of each chip, divided over the partitions.
int64_t oom_sharded_bytes(const struct oom_evidence *evidence, const struct oom_buffer *buffer);

// The largest buffer when it is a replicated argument of a program of several partitions; else NULL.
const struct oom_buffer *oom_replicated_argument(const struct oom_evidence *evidence);
