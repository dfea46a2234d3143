// The same function several times at once, for the few loads that are long enough to be worth a thread.
//
//     run(context, 0) on this thread, run(context, 1) ... on threads of their own; returns when all have returned
//
// A thread that cannot be had is no error: its part is then run here, after the others.
#pragma once

#include <stddef.h>

enum { PARALLEL_MAX = 8 };

// `count` is at most PARALLEL_MAX.
void parallel_run(void (*run)(void *context, size_t index), void *context, size_t count);
