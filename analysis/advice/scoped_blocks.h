// The blocks of a forward pass by the names that libraries give their modules (module_scope.h), and what each keeps.
//
//     encoder/layers/0     24 MiB, 24 MiB, 96 MiB      first made at step 12, ends with 24 MiB
//     encoder/layers/1     ...
//
// Where weights and operations count far fewer blocks, as of an encoder beside a decoder, or of attention and
// convolutions in turns, these are the blocks (block_stages.h). Of convolutions, whose blocks are of many sizes, each
// is a block with what it keeps itself (scoped_stages.h). Says nothing of loops, nor of programs without names.
#pragma once

#include "analysis/advice/residuals.h"

enum { SCOPES_MAX = 256 };

struct scoped_block {
    struct bytes path;
    uint32_t first_start, last_start;  // of what it keeps
    uint32_t kept_count;
    double kept_bytes;
    int64_t largest_bytes, end_bytes;  // of the largest array, and of the last one that is no mere statistic
};

struct scoped_blocks {
    uint32_t count;                          // of scopes that keep something
    double bytes;                            // what they keep, all together
    struct scoped_block blocks[SCOPES_MAX];  // in order of what they keep first
};

void scoped_blocks_find(const struct advisor *advisor, const struct residuals *residuals, struct scoped_blocks *found);

// The block that a residual's name tells; NULL: it has none.
const struct scoped_block *scoped_blocks_of(const struct advisor *advisor, const struct scoped_blocks *found,
                                            uint32_t span);
