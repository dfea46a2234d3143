#include "analysis/base/steady_clock.h"

#include <time.h>

enum { SECOND_NS = 1000000000, MILLISECOND_NS = 1000000 };

int64_t steady_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * SECOND_NS + now.tv_nsec;
}

int64_t steady_ms(void) {
    return steady_ns() / MILLISECOND_NS;
}
