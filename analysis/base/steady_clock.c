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

void steady_condition_init(pthread_cond_t *condition) {
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &steady);
    pthread_condattr_destroy(&steady);
}

bool steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t milliseconds) {
    int64_t until_ns = steady_ns() + (milliseconds > 0 ? milliseconds : 0) * MILLISECOND_NS;
    struct timespec until = {until_ns / SECOND_NS, until_ns % SECOND_NS};
    return pthread_cond_timedwait(condition, lock, &until) == 0;
}
