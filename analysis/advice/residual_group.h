// Arrays that wait for the backward pass, those of one shape together: for residuals.h, unequal_blocks.h joins some.
#pragma once

#include "analysis/advice/advisor.h"

enum { RESIDUAL_GROUPS_MAX = 256 };

struct residual_group {  // residuals of one shape
    struct array_shape shape;
    int64_t bytes;  // of one
    uint32_t count;
    uint32_t instruction;  // that makes the first
    uint32_t first_start, last_start;
    uint32_t first_reading, last_reading;  // times of the schedule
    bool is_stacked, is_block;
    bool needs_no_block;    // masks that are drawn, copies of one array
    bool is_begun_at_once;  // such, for all blocks, which read them one after the other
    bool is_joined;         // to the blocks of a stage: what its first block makes of another size
    bool is_rounded;        // all: to bfloat16 by the compiler, for products, beside others that stay float32
};

// Bytes of all.
static inline double residual_group_bytes(const struct residual_group *group) {
    return (double)group->bytes * group->count;
}
