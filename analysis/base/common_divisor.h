// The largest number that divides two others, neither negative; that of a number and 0 is the number.
#pragma once

#include <stdint.h>

static inline int64_t common_divisor(int64_t a, int64_t b) {
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}
