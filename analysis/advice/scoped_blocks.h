// The blocks of a forward pass by the names that libraries give their modules.
//
//     jvp(Model)/encoder/layers/0/self_attn/dot_general     encoder/layers/0
//     jvp(Model)/decoder/layers/11/fc1/dot_general          decoder/layers/11
//     jvp(UNet)/down_0_attn_1/attn1/bqhd,bkhd->bhqk/...     down_0_attn_1
//
// A scope goes up to the first part of the path that has a number. Where weights and operations count far fewer blocks,
// as of an encoder beside a decoder, or of attention and convolutions in turns, these are the blocks (block_stages.h).
// Says nothing of loops, nor of programs without names.
#pragma once

#include "analysis/advice/residuals.h"

struct scoped_blocks {
    uint32_t count;  // of scopes that keep something
    double bytes;    // what they keep, all together
};

struct scoped_blocks scoped_blocks_find(const struct advisor *advisor, const struct residuals *residuals);
