// The steady clock, which no setting of the time moves: for how long something takes, not for what time it is.
#pragma once

#include <stdint.h>

int64_t steady_ns(void);
int64_t steady_ms(void);
