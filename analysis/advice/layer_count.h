// How many blocks a forward pass has, as its weights tell: each has one of a shape, or several.
//
//     weights       used at          of a shape
//     f32[128,512]  |  |  |  |       4, once in each block
//     f32[128,128]  || || || ||      8, twice in each: 4 divides both
//     f32[384,128]  ||               2, side by side: what every block has comes again, so these are none's
//
// Left aside are shapes that hold next to nothing, and tables, with heads as large as these.
#pragma once

#include "analysis/advice/advisor.h"

struct layer_count {
    uint32_t count;  // below 2: weights do not say
    bool is_even;    // every shape comes as often
};

struct layer_count layer_count_find(const struct advisor *advisor);

// Layers in one turn of a loop over stacked weights: as many as divide how often every shape of large ones comes, once
// too. 1 of a transformer with as many of four matrices as of two others; 0 without such weights.
uint32_t layer_count_of_turn(const struct advisor *advisor);
