// The same function several times at once: for the few loads that are long enough to be worth a thread, and for what
// waits for disks and servers.
//
//     parallel_run     run(context, 0) on this thread, run(context, 1) ... on threads of their own
//     parallel_each    items 0 1 2 3 ... n: this thread begins; as soon as that has taken a moment, others take the
//                      next item each, whoever is free: a thousand quick items cost no thread, slow ones wait together
//
// Both return when all have returned. A thread that cannot be had is no error: the others do its part. However many
// call parallel_each at a time, they have PARALLEL_THREADS_MAX threads among them: each takes at most half of those
// that are left, and who finds none does its items itself.
#pragma once

#include <stddef.h>

enum { PARALLEL_MAX = 8, PARALLEL_EACH_MAX = 32, PARALLEL_THREADS_MAX = 96 };

// `count` is at most PARALLEL_MAX.
void parallel_run(void (*run)(void *context, size_t index), void *context, size_t count);

// Each item of `count` once. `worker` is below PARALLEL_EACH_MAX, and no two items have the same one at a time.
void parallel_each(void (*run)(void *context, size_t item, size_t worker), void *context, size_t count);
