// Blocks of unequal size keep arrays of as many shapes: what one line of the source makes, block after block, belongs
// together all the same.
//
//     layer 0   bf16[8,512,768]     model.py:41 mul      one of this shape, and one of that: no group of residuals.h
//     layer 1   bf16[8,512,1024]    model.py:41 mul      shows a block, both together do
//     head      f32[8,511,50257]    model.py:90 sub      alone
//
// Where nothing says which line it was (source_line.h) nothing is found.
#pragma once

#include "analysis/advice/residual_group.h"

// Makes groups with one array, or too few in too short a time, the blocks', where others of another shape are made by
// the same line, some of them alone too, together all through the forward pass. Returns how many blocks there are, by
// the rarest of such lines that hold much, where these are a good part of all that blocks keep; else 0.
uint32_t unequal_blocks_find(const struct advisor *advisor, struct residual_group *groups, uint32_t group_count);

// Convolutions of a stage's first block make its pictures smaller: what is alone, by the line that makes arrays of
// blocks' in the others, is the blocks' as well, joined to their stage. `group_of_span`: of residuals.h.
void unequal_blocks_join_first(const struct advisor *advisor, const uint32_t *group_of_span,
                               struct residual_group *groups, uint32_t group_count);
