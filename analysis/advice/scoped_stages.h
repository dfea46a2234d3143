// Blocks of convolutions by their names, a stage each, with what it keeps itself.
//
//     block00   196 MiB each: 112 x 112 x 16      a block of its own size each: one that is three times as large as
//     block01   800 MiB: 112 x 112 x 64           the others is all that is at work while it runs again
//     block02   220 MiB: 56 x 56 x 72             ...
//     stem      no number in its name: no block, what it keeps stays
//
// A block's input is what the one before it kept last. Only where names tell most of what is kept, of convolutions
// outside of loops: blocks of tokens are of one size.
#pragma once

#include "analysis/advice/block_stages.h"

// Changes the stages that block_stages_find found, where names tell more.
void scoped_stages_find(const struct advisor *advisor, const struct residuals *residuals, struct block_stages *stages);
