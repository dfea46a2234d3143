// What a program does with its weights: multiply with them, look rows up in them, or only add them.
//
//     wte f32[50257,768]   rows of it are taken, and it is multiplied with at the end
//     w   f32[768,3072]    multiplied with
//     wpe f32[1024,768]    only added: places of tokens
//
// Told by the number of elements: a weight is transposed and converted on its way to where it is used.
#pragma once

#include "analysis/advice/advisor.h"

enum { WEIGHT_USES_MAX = 64 };

struct weight_uses {
    int64_t elements[WEIGHT_USES_MAX];  // of what is multiplied with, or looked up in: each number once
    uint32_t count;
};

struct weight_uses weight_uses_find(const struct advisor *advisor);

// A matrix that is not: what it is added to does not follow its split.
bool weight_is_only_added(const struct weight_uses *uses, const struct array_shape *shape);

// The leaf that node `index` takes rows of, at numbers that it is given; HLO_NONE: it takes none.
uint32_t weight_looked_up(const struct advisor *advisor, uint32_t index);
