#include "server/steady_wait.h"

#include <time.h>

#include "analysis/base/steady_clock.h"

enum { SECOND_NS = 1000000000, MILLISECOND_NS = 1000000 };

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
