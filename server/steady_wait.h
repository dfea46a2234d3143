// Waits for a condition by the steady clock (analysis/base/steady_clock.h): by the time of day a clock that is set back
// would make them as long as it went back.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

// A condition for steady_wait; pthread_cond_wait may wait for it as well.
void steady_condition_init(pthread_cond_t *condition);

// With the lock held, which is let go meanwhile. False: nobody signalled for so long. True may also be for nothing.
bool steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t milliseconds);
