// analysis/base/parallel: each item once, on the caller's thread while they are quick, side by side when they wait.
#include "analysis/base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "tests/unit/cmocka_all.h"

enum { ITEMS = 100 };

struct seen {
    atomic_int times[ITEMS];
    atomic_int busy[PARALLEL_EACH_MAX];  // by worker: how many items it is at
    atomic_int at_once, most_at_once, broken;
    pthread_t caller;
    atomic_int elsewhere;  // items on other threads than the caller's
    int sleep_ms;
};

static void note(void *context, size_t item, size_t worker) {
    struct seen *seen = context;
    if (worker >= PARALLEL_EACH_MAX || atomic_fetch_add(&seen->busy[worker], 1) != 0) atomic_store(&seen->broken, 1);
    int now = atomic_fetch_add(&seen->at_once, 1) + 1, most = atomic_load(&seen->most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&seen->most_at_once, &most, now)) continue;
    atomic_fetch_add(&seen->times[item], 1);
    if (!pthread_equal(pthread_self(), seen->caller)) atomic_fetch_add(&seen->elsewhere, 1);
    if (seen->sleep_ms) nanosleep(&(struct timespec){0, (long)seen->sleep_ms * 1000000}, NULL);
    atomic_fetch_sub(&seen->at_once, 1);
    atomic_fetch_sub(&seen->busy[worker], 1);
}

static void each(struct seen *seen, size_t count, int sleep_ms) {
    *seen = (struct seen){.caller = pthread_self(), .sleep_ms = sleep_ms};
    parallel_each(note, seen, count);
    for (size_t i = 0; i < ITEMS; i++) assert_int_equal(atomic_load(&seen->times[i]), i < count);
    assert_int_equal(atomic_load(&seen->broken), 0);
}

static void every_item_is_done_once(void **state) {
    (void)state;
    struct seen seen;
    for (size_t count = 0; count <= ITEMS; count += 10) each(&seen, count, 0);
    each(&seen, 1, 0);
    each(&seen, 2, 5);
}

static void slow_items_wait_together(void **state) {
    (void)state;
    struct seen seen;
    each(&seen, ITEMS, 10);
    assert_true(atomic_load(&seen.most_at_once) > 1);
    assert_true(atomic_load(&seen.most_at_once) <= PARALLEL_EACH_MAX);
    assert_true(atomic_load(&seen.elsewhere) > 0);
}

static void one_item_needs_no_thread(void **state) {
    (void)state;
    struct seen seen;
    each(&seen, 1, 10);
    assert_int_equal(atomic_load(&seen.elsewhere), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(slow_items_wait_together),
        cmocka_unit_test(one_item_needs_no_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
