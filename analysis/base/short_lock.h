// A lock for what takes no longer than to copy some words: whoever finds it taken tries again until it is free.
// Nothing that asks the system for anything is done under it.
#pragma once

#include <stdatomic.h>

struct short_lock {
    atomic_flag is_taken;
};

#define SHORT_LOCK_FREE                                                                                                \
    { ATOMIC_FLAG_INIT }

static inline void short_lock_take(struct short_lock *lock) {
    while (atomic_flag_test_and_set_explicit(&lock->is_taken, memory_order_acquire)) continue;
}

static inline void short_lock_give(struct short_lock *lock) {
    atomic_flag_clear_explicit(&lock->is_taken, memory_order_release);
}
