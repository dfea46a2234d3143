// The largest free block: what the next request may need, however much is free in all.
//
//     free   |##..####......#...|     fragmentation = 1 - largest / free
//                     ^^^^^^ largest
#pragma once

#include <math.h>
#include <stdint.h>

#define LARGEST_FREE_UNKNOWN (-1)

// free x (1 - fragmentation), rounded, between 0 and free. Where nothing is free it is 0, whatever the fragmentation
// (an allocator's 0 / 0 is a NaN). LARGEST_FREE_UNKNOWN when something is free and the fragmentation is not finite.
static inline int64_t largest_free_bytes(int64_t free_bytes, double fragmentation) {
    if (free_bytes <= 0) return 0;
    if (!isfinite(fragmentation)) return LARGEST_FREE_UNKNOWN;
    double largest = round((double)free_bytes * (1 - fragmentation));
    if (!(largest > 0)) return 0;
    return largest >= (double)free_bytes ? free_bytes : (int64_t)largest;
}
