// Convolutions of fewer than eight pictures on a chip, which XLA:TPU computes in another form.
//
//     f32[8,64,64,64]       eight pictures fill the eight rows of a tile
//     bf16[64,4*8,9,64]     four do not: each is cut into eight strips, which are pictures by themselves, with a row
//                           of the next strip at the border; arrays of both forms are alive beside each other
//
// Seen in modules of libtpu 0.0.52 (its pass is XLA's space_to_batch_converter): eight and twelve pictures stay whole,
// six, four and two are cut, and four can take more than eight did. What of a program comes in which form, nothing in
// the module before the change tells.
//
// Of more than that, it has the pictures or their channels in the 128 lanes of a tile. 88 pictures there are padded to
// 128, and 44 are too: where they stay there, half of them take as much as all.
#pragma once

#include "analysis/advice/advisor.h"

// Bytes at the peak in arrays of the shapes that convolutions of the batch make, of pictures or of waves.
double pictures_bytes_at_peak(const struct advisor *advisor);

// Elements of the largest array of the batch that a convolution over time makes, forwards or back; 0 where any makes
// pictures.
int64_t largest_wave_elements(const struct advisor *advisor);

// The doubt is of what convolutions hold at the peak at least, in bytes, where a change leaves `examples` of the batch
// on a chip, too few, and there are enough today. Nothing for other compilers, and for programs without convolutions.
void few_pictures_doubt(struct advisor *advisor, int64_t examples);

// Are there too few today? Then a program that computes them again, or in parts, may have them in the other form.
bool few_pictures_already(const struct advisor *advisor);

// May pictures, of which a change leaves `examples` on a TPU, fill their lanes worse than today?
bool few_pictures_in_lanes(const struct advisor *advisor, int64_t examples);
