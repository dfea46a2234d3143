// What is told of the hosts of a session side by side (peak_differences.h): the peak of each memory, who differs, and
// by what; of a Memory Profile, or of the session's device memory profiles, whose files then stand for hosts.
//
//     across_json   one document for endpoints, page and report         across_text   its sentences
#pragma once

#include "analysis/across/peak_differences.h"
#include "analysis/base/error.h"
#include "server/text/json_writer.h"

struct across_host {
    const char *name;
    const struct error
        *fault;  // it could not be read (to its end); with neither fault nor peaks it is still to be read
};

struct across {
    const struct across_host *hosts;
    const struct memory_peaks **peaks;  // of each host; NULL: not known
    size_t host_count;
    struct peak_differences differences;
};

enum { ACROSS_MOST_DIFFERING = 100 };

// Compares what is known. On `arena`.
MUST_USE bool across_make(const struct across_host *hosts, const struct memory_peaks **peaks, size_t host_count,
                          struct arena *arena, struct across *across, struct error *error);

// Whether there is anything to compare: two memories of a kind.
bool across_has_any(const struct across *across);

// The host that a row of the differences is of.
const char *across_host_name(const struct across *across, uint32_t row);

// Keys of an open object. False: *error is filled.
MUST_USE bool across_write(const struct across *across, struct arena *arena, struct json_writer *w,
                           struct error *error);

// "GPU_*_bfc on 256 hosts: 11.60 GiB at the peak, all alike." NULL: no memory.
const char *across_kind_text(const struct across *across, const struct peak_kind *kind, struct arena *arena);

// "host-017 holds 2.10 GiB more than the median (11.60 GiB), in step 7: MatMul holds 2.10 GiB ..." NULL: no memory.
const char *across_row_text(const struct across *across, const struct peak_row *row, struct arena *arena);
