// The steady clock, which no setting of the time moves: for how long something takes, not for what time it is. Waits
// for a condition go by it too: by the time of day a clock that is set back would make them as long as it went back.
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

int64_t steady_ns(void);
int64_t steady_ms(void);

// A condition for steady_wait; pthread_cond_wait may wait for it as well.
void steady_condition_init(pthread_cond_t *condition);

// With the lock held, which is let go meanwhile. False: nobody signalled for so long. True may also be for nothing.
bool steady_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t milliseconds);
