// What the forward pass keeps for the backward pass, by shape, and which of it are the blocks'.
//
//     bf16[8,512,768]      x 24    made all through the forward pass: the blocks keep these
//     f32[8,511,50257]     x 3     made at its end: logits and losses
//     bf16[12,8,512,768]           a loop's stack: one of each turn
//
// Kept arrays count as a block's when there are several of one shape, over a stretch of the program; a loop's, when
// they are stacked over its turns; beside loops, others do only before or after them all, where they keep a good part.
// Where blocks are of unequal size, so are these: unequal_blocks.h.
#pragma once

#include "analysis/advice/residual_group.h"

struct residuals {
    struct residual_group *groups;
    uint32_t group_count;
    uint32_t *group_of_span;  // of the replay's spans: or HLO_NONE
    uint32_t unequal_blocks;  // where no two keep the same shapes: unequal_blocks.h; else 0
    int64_t loop_length;      // of the loop whose stacks hold most; 0: none
    int64_t dropped_bytes;    // of the blocks'
    uint32_t dropped_count;
    uint32_t largest;  // span of the blocks'
};

// False at the arena's limit, with the error set.
MUST_USE bool residuals_find(const struct advisor *advisor, struct residuals *residuals);

// Bytes of one, of a stack of one turn.
int64_t residual_bytes_of_block(const struct residual_group *group);

// The same where a block runs again: what was rounded for a product is float32 between blocks.
int64_t residual_bytes_unrounded(const struct residual_group *group);

// What is begun for all blocks at once: masks that are drawn, or copies of one array.
double residuals_begun_at_once(const struct advisor *advisor, const struct residuals *residuals, bool are_copies);

// Do blocks keep arrays of as many elements, of whatever type, in whatever order?
bool residuals_has_as_large(const struct residuals *residuals, const struct array_shape *shape);

// Is it the blocks'?
static inline bool residuals_has(const struct residuals *residuals, uint32_t span) {
    uint32_t g = residuals->group_of_span[span];
    return g != HLO_NONE && residuals->groups[g].is_block;
}
