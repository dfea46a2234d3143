// analysis/base/parallel: each item once, on the caller's thread while they are quick, side by side when they wait.
#include "analysis/base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
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

// --- Many at once ---

enum { CALLERS = 24, ITEMS_EACH = 2 * PARALLEL_EACH_MAX };

// Items that stay until all are at one that there are threads for.
struct crowd {
    atomic_size_t done, at_once, most_at_once;
    atomic_bool may_go;
};

static void stay(void *context, size_t item, size_t worker) {
    (void)item, (void)worker;
    struct crowd *crowd = context;
    size_t now = atomic_fetch_add(&crowd->at_once, 1) + 1, most = atomic_load(&crowd->most_at_once);
    while (now > most && !atomic_compare_exchange_weak(&crowd->most_at_once, &most, now)) continue;
    while (!atomic_load(&crowd->may_go)) nanosleep(&(struct timespec){0, 3000000}, NULL);
    atomic_fetch_sub(&crowd->at_once, 1);
    atomic_fetch_add(&crowd->done, 1);
}

// The first item lasts long enough for the others to be worth threads.
static void stay_long(void *context, size_t item, size_t worker) {
    nanosleep(&(struct timespec){0, 3000000}, NULL);
    if (item == 0)
        atomic_fetch_add(&((struct crowd *)context)->done, 1);
    else
        stay(context, item, worker);
}

static void *call(void *crowd) {
    parallel_each(stay_long, crowd, ITEMS_EACH);
    return NULL;
}

static void many_callers_share_the_threads(void **state) {
    (void)state;
    struct crowd crowd = {0};
    pthread_t callers[CALLERS];
    for (size_t i = 0; i < CALLERS; i++) assert_int_equal(pthread_create(&callers[i], NULL, call, &crowd), 0);
    while (atomic_load(&crowd.at_once) < CALLERS + PARALLEL_THREADS_MAX)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    atomic_store(&crowd.may_go, true);
    for (size_t i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
    assert_int_equal(atomic_load(&crowd.done), CALLERS * ITEMS_EACH);
    assert_true(atomic_load(&crowd.most_at_once) <= CALLERS + PARALLEL_THREADS_MAX);
    struct seen seen;
    each(&seen, ITEMS, 10);  // and gave them back
    assert_true(atomic_load(&seen.elsewhere) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(slow_items_wait_together),
        cmocka_unit_test(one_item_needs_no_thread),
        cmocka_unit_test(many_callers_share_the_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
