// Whether a stage of blocks is one: do pictures of other sizes, [examples, height, width, channels], hold much of it?
//
//     f32[16,128,128,64]  ||||           |    an encoder, and a decoder that has pictures of its first size again: one
//     f32[16,64,64,128]       ||||            stage, by when they are made, with all that is made between
#pragma once

#include "analysis/advice/block_stages.h"

bool mixed_sizes_are_in(const struct residuals *residuals, const struct block_stages *stages, uint8_t stage);
