// What the forward pass keeps for the backward pass, by shape, and which of it are the blocks'.
//
//     bf16[8,512,768]      x 24    made all through the forward pass: the blocks keep these
//     f32[8,511,50257]     x 3     made at its end: logits and losses
//     bf16[12,8,512,768]           a loop's stack: one of each turn
//
// Kept arrays count as a block's when there are several of one shape, over a stretch of the program; a loop's, when
// they are stacked over its turns; beside loops, others do only before or after them all, where they keep a good part.
#pragma once

#include "analysis/advice/advisor.h"

enum { RESIDUAL_GROUPS_MAX = 256 };

struct residual_group {  // residuals of one shape
    struct array_shape shape;
    int64_t bytes;  // of one
    uint32_t count;
    uint32_t first_start, last_start;
    bool is_stacked, is_block;
    bool is_rounded;  // all: to bfloat16 by the compiler, for products, beside others that stay float32
};

struct residuals {
    struct residual_group *groups;
    uint32_t group_count;
    uint32_t *group_of_span;  // of the replay's spans: or HLO_NONE
    int64_t loop_length;      // of the loop whose stacks hold most; 0: none
    int64_t dropped_bytes;    // of the blocks'
    uint32_t dropped_count;
    uint32_t largest;  // span of the blocks'
};

// False at the arena's limit, with the error set.
MUST_USE bool residuals_find(const struct advisor *advisor, struct residuals *residuals);

// Bytes of all.
static inline double residual_group_bytes(const struct residual_group *group) {
    return (double)group->bytes * group->count;
}

// Bytes of one, of a stack of one turn.
int64_t residual_bytes_of_block(const struct residual_group *group);

// The same where a block runs again: what was rounded for a product is float32 between blocks.
int64_t residual_bytes_unrounded(const struct residual_group *group);

// Do blocks keep arrays of as many elements, of whatever type, in whatever order?
bool residuals_has_as_large(const struct residuals *residuals, const struct array_shape *shape);

// Is it the blocks'?
static inline bool residuals_has(const struct residuals *residuals, uint32_t span) {
    uint32_t g = residuals->group_of_span[span];
    return g != HLO_NONE && residuals->groups[g].is_block;
}
