// What a trace holds besides programs, told from the names in its planes and from a few stats; no event is read.
//
//     /host:CPU      event_metadata "MemoryAllocation"         -> it tells memory over time
//     /device:GPU:0  stats { memory_size: 16945512448, ... }   -> a device, and what it has
//     /device:TPU:0  stats { device_type_string: "TPU v4" }    -> a device, and what it is
//
// Lines are stepped over by their length. Everything lies on the caller's arena.
#pragma once

#include "analysis/input/byte_source.h"
#include "analysis/input/xspace_index.h"

struct trace_device {
    struct bytes plane;    // "/device:GPU:0"
    struct bytes type;     // "TPU v4"; empty: the profile does not say
    int64_t memory_bytes;  // 0: the profile does not say
};

struct trace_contents {
    bool has_memory_events;
    struct trace_device *devices;  // those of which type or memory is told, in file order
    size_t device_count;
};

enum { TRACE_MAX_DEVICES = 4096, TRACE_TYPE_MAX_BYTES = 256 };

// A plane that is damaged tells what stands before the damage. False without memory, and where the system refuses a
// read (ERROR_UNREADABLE): what the rest would tell is not known then.
MUST_USE bool trace_contents_read(struct byte_source *source, const struct xspace_index *index, struct arena *arena,
                                  struct trace_contents *contents, struct error *error);
