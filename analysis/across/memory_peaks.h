// The peaks of one file's memories, and who holds them: little enough to keep for every host of a pod.
//
//     memory "GPU_0_bfc"    peak 13.9 GiB in step 7    holders   "MatMul" 2.1 GiB since step 3, "Relu" 1.0 GiB, ...
//                                                      unexplained 10.8 GiB: held before the profile began
//     memory "GPU_1_bfc"    ...
//
// A holder is an op of a Memory Profile, a line of the user's code in a device memory profile. Plain data on one arena;
// who makes it is in server/store/peak_store.h, who compares it in peak_differences.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/base/error.h"
#include "proto/bytes.h"

#define PEAK_STEP_UNKNOWN INT64_MIN

struct peak_holder {
    struct bytes name;
    int64_t bytes;
    int64_t first_step;  // of what it holds; PEAK_STEP_UNKNOWN
};

struct memory_peak {
    struct bytes memory_id;
    bool is_told;  // by the allocator; else the most that was seen allocated at once
    int64_t bytes;
    int64_t time_ps, step;  // of the peak; PEAK_STEP_UNKNOWN
    int64_t unexplained_bytes;
    struct peak_holder *holders;  // by name, each once
    uint32_t holder_count;
};

struct memory_peaks {  // of one file
    struct memory_peak *peaks;
    size_t count;
    struct error fault;  // ERROR_NONE, or why there may be more in the file than this
};

// Puts the holders into their order and adds up those of one name.
void memory_peak_settle(struct memory_peak *peak);
