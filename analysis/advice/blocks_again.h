// What is held, step by step, where blocks run again in the backward pass.
//
//     bytes                 ____                        D  what the blocks keep for the backward pass
//       D grows    __--~~--      --~~--__   D shrinks   K  what is kept instead: one input a block
//              __--   |  turn  |         --__           E  the inside of one block, while it runs: most of D / blocks
//     today   forward  |        | backward
//     then    K + E    |   K    | K + E
//
// Blocks come in stages (block_stages.h): what one holds while it runs again is its stage's. Gradients of what blocks
// keep may wait in the backward pass, for products that a schedule with room makes last: then one block's are there.
// Packs nothing: what the peak becomes, not the total.
#pragma once

#include "analysis/advice/block_stages.h"

// Of the arrays inside of a block that runs again, what is held at once, as far as recompiled programs tell
// (docs/advice.md): the others are made and read within one fusion, or not all of them wait until the block's own
// backward pass begins. It may be next to none, or some arrays twice.
#define BLOCKS_AT_ONCE 0.75
#define BLOCKS_AT_ONCE_MOST 1.1

struct blocks {
    struct residuals residuals;
    struct block_stages stages;
    double at_once;                    // of what is inside
    const int64_t *dropped, *waiting;  // bytes that each step begins with, less those it ends with
    int64_t waiting_bytes;             // at once, at most
    bool is_last_of_all;               // on a GPU: products of weights' gradients are made after all blocks
    double waits_for_last;             // of gradients, while the last block still keeps something; 0: not known
};

// Of blocks with residuals and stages, the rest. False at the arena's limit.
MUST_USE bool blocks_again_find(const struct advisor *advisor, struct blocks *blocks);

// The most bytes on the heap at any step, blocks running again.
int64_t blocks_again_peak(const struct advisor *advisor, const struct blocks *blocks);

// What one block of a stage holds while it runs again, in bytes.
double blocks_again_inside(const struct block_stage *stage, double at_once);
