// Which host of a pod, or which device of a host, fills its memory otherwise than the others, and what with.
//
//     peaks   host-000 GPU_0   host-000 GPU_1   ...   host-017 GPU_0   ...      one row each, in the order of the files
//     kinds   "GPU_*": 512 memories, median 11.6 GiB, lowest, highest           memory ids that differ by numbers alone
//     row     host-017 GPU_0: 2.1 GiB more than the median; "MatMul" holds 2.1 GiB, at the median memory none
//
// The median memory of a kind is the first row whose peak is the (lower) median. A row differs when its peak is more
// than a hundredth of that away, and more than a page. What it differs by is the holder, or what no event explains,
// whose bytes at the peak differ most in the same direction from those of the median memory.
#pragma once

#include "analysis/across/memory_peaks.h"
#include "analysis/base/arena.h"

struct peak_difference {
    bool is_known;        // some holder, or the unexplained, differs that way
    bool is_unexplained;  // then there is no holder
    struct bytes holder;
    int64_t bytes, median_bytes;  // that it holds here, and at the median memory
    int64_t first_step;           // where it holds more, here or there; PEAK_STEP_UNKNOWN
};

struct peak_row {
    uint32_t file;  // index of the file it is of
    uint32_t kind;
    const struct memory_peak *peak;
    int64_t more_bytes;  // than the median
    bool differs;
    struct peak_difference by;  // where it differs
};

struct peak_kind {
    struct bytes name;                 // "GPU_*"
    uint32_t median, lowest, highest;  // rows; of equal peaks the first one
    uint32_t count, differing;
    int64_t lowest_bytes, highest_bytes;
};

struct peak_differences {
    struct peak_row *rows;
    uint32_t row_count;
    struct peak_kind *kinds;  // by name
    uint32_t kind_count;
    uint32_t *differing;  // rows, the largest difference first
    uint32_t differing_count;
};

// Files that are NULL are not there (yet). The peaks must outlive the differences, which are on `arena`.
MUST_USE bool peak_differences_find(const struct memory_peaks *const files[], size_t file_count, struct arena *arena,
                                    struct peak_differences *differences, struct error *error);
