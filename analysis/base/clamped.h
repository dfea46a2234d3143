// Sums of sizes from hostile files: past either end of 64 bits they stay at that end.
#pragma once

#include <stdint.h>

static inline int64_t clamped_add(int64_t a, int64_t b) {
    int64_t sum;
    if (!__builtin_add_overflow(a, b, &sum)) return sum;
    return b < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t clamped_subtract(int64_t a, int64_t b) {
    int64_t difference;
    if (!__builtin_sub_overflow(a, b, &difference)) return difference;
    return b < 0 ? INT64_MAX : INT64_MIN;
}
