// Sums over a TPU's chips that stay whole on each beside what is made of them, as long as anything needs them.
//
//     x [180,49,816/4] . w [816/4,3264]  ->  [180,49,3264], a part of the sum on each chip
//         -> reduce-scatter -> [180,49,816]      where the chip's columns fill tiles
//         -> all-reduce -> [180,49,3264], whole  else; who takes it cuts its columns out, the backward pass too
//
// With their copies, as what leaves fast memory until the backward pass. What one chip rounds for its products lies in
// the type of the sum: twice the bytes. Seen in modules that libtpu partitioned (docs/advice.md). Outside of loops,
// whose stacks are of what was cut. Says nothing of the moment before a reduce-scatter (summed_whole.h).
#pragma once

#include "analysis/advice/sharding_split.h"

// 1 for each leaf that is such a sum, or a fusion's result with nothing added but rows: as large as before the change.
// On the arena. NULL: no memory, with the error set.
uint8_t *scattered_not(const struct advisor *advisor, const struct sharding_split *split);

// What a leaf of so many bytes takes as such a sum.
int64_t scattered_size(const struct advisor *advisor, uint32_t leaf, int64_t bytes);
