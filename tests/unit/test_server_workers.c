// Which job goes first, which wait without a thread, and which are refused.
#include "tests/unit/cmocka_all.h"

#include <pthread.h>
#include <semaphore.h>

#include "server/http/workers.h"
#include "tests/unit/other_threads.h"

#define PLACES(loads, looks)                                                                                           \
    { [WORKER_LOADS] = (loads), [WORKER_LOOKS] = (looks) }

enum { AN_HOUR_MS = 3600000 };

struct task {
    struct worker_job job;
    struct tasks *of;
    bool has_to_load, has_begun, is_refused;
    unsigned order;  // in which it began
};

struct tasks {
    sem_t begun, may_end;
    pthread_mutex_t lock;
    unsigned count;  // that began
};

static bool work(void *context, bool may_load) {
    struct task *task = context;
    if (task->has_to_load && !may_load) return false;
    pthread_mutex_lock(&task->of->lock);
    task->has_begun = true;
    task->order = task->of->count++;
    pthread_mutex_unlock(&task->of->lock);
    sem_post(&task->of->begun);
    sem_wait(&task->of->may_end);
    return true;
}

static void done(void *context) {
    struct task *task = context;
    task->is_refused = task->job.is_refused;
}

static bool has_begun(struct task *task) {
    pthread_mutex_lock(&task->of->lock);
    bool has_begun = task->has_begun;
    pthread_mutex_unlock(&task->of->lock);
    return has_begun;
}

static struct workers *begin_tasks(const struct workers_rules *rules, struct tasks *of) {
    *of = (struct tasks){.lock = PTHREAD_MUTEX_INITIALIZER};
    sem_init(&of->begun, 0, 0);
    sem_init(&of->may_end, 0, 0);
    return workers_new(rules);
}

static void let_end(struct tasks *of, size_t count) {
    for (size_t i = 0; i < count; i++) sem_post(&of->may_end);
}

// `count`: of all that were taken.
static void end_tasks(struct workers *workers, struct tasks *of, unsigned count) {
    let_end(of, count);
    workers_finish(workers);
    assert_int_equal(of->count, count);
    workers_free(workers);
}

static void take(struct workers *workers, struct tasks *of, struct task *task, struct worker_asker *asker) {
    task->job = (struct worker_job){.work = work, .done = done, .context = task, .asker = asker};
    task->of = of;
    assert_true(workers_take(workers, &task->job));
}

static void addresses_leave_threads_to_others(void **state) {
    (void)state;
    const struct workers_rules rules = {.places = {6}, .prompt = 6, .patience_ms = AN_HOUR_MS};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task tasks[20] = {0}, other = {0};
    struct worker_asker greedy[2] = {0}, late = {0};
    for (size_t i = 0; i < 20; i++) take(workers, &of, &tasks[i], &greedy[i / 10]);
    take(workers, &of, &other, &late);
    other_threads_wait_all();
    assert_true(has_begun(&other));
    end_tasks(workers, &of, 21);
    assert_int_equal(greedy[0].working[WORKER_LOADS] + greedy[1].working[WORKER_LOADS], 0);
}

static void whose_address_has_the_fewest_at_work_goes_first(void **state) {
    (void)state;
    const struct workers_rules rules = {.places = {20}, .prompt = 2, .patience_ms = AN_HOUR_MS};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task tasks[3] = {0}, other = {0};
    struct worker_asker greedy = {0}, late = {0};
    for (size_t i = 0; i < 2; i++) take(workers, &of, &tasks[i], &greedy);
    for (size_t i = 0; i < 2; i++) sem_wait(&of.begun);
    take(workers, &of, &tasks[2], &greedy);
    take(workers, &of, &other, &late);
    let_end(&of, 1);
    sem_wait(&of.begun);
    assert_true(has_begun(&other));
    assert_int_equal(other.order, 2);
    end_tasks(workers, &of, 4);
}

// Of one address: the first has the place where it may load, the others wait for that without a thread.
static void what_is_kept_does_not_wait_for_what_is_not(void **state) {
    (void)state;
    const struct workers_rules rules = {.places = PLACES(2, 2), .waiting = 20, .prompt = 4, .patience_ms = AN_HOUR_MS};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task tasks[10] = {0}, kept = {0};
    struct worker_asker asker = {0};
    for (size_t i = 0; i < 10; i++) tasks[i].has_to_load = true;
    for (size_t i = 0; i < 10; i++) take(workers, &of, &tasks[i], &asker);
    take(workers, &of, &kept, &asker);
    other_threads_wait_all();
    assert_true(has_begun(&kept));
    assert_in_range(kept.order, 0, 1);
    end_tasks(workers, &of, 11);
    assert_int_equal(asker.working[WORKER_LOADS] + asker.working[WORKER_LOOKS], 0);
}

static void what_is_urgent_does_not_wait_for_loads(void **state) {
    (void)state;
    const struct workers_rules rules = {
        .places = {[WORKER_LOADS] = 2, [WORKER_HURRIES] = 2}, .waiting = 20, .prompt = 4, .patience_ms = AN_HOUR_MS};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task loads[5] = {0}, urgent = {.of = &of};
    struct worker_asker asker = {0};
    for (size_t i = 0; i < 5; i++) take(workers, &of, &loads[i], &asker);
    urgent.job = (struct worker_job){
        .work = work, .done = done, .context = &urgent, .asker = &asker, .is_urgent = true, .has_to_load = true};
    assert_true(workers_take(workers, &urgent.job));
    other_threads_wait_all();
    assert_true(has_begun(&urgent));
    end_tasks(workers, &of, 6);
    assert_int_equal(asker.working[WORKER_HURRIES] + asker.waiting[WORKER_HURRIES], 0);
}

// None of them ends: the first is long by the time the second begins, and that is all that the address may have.
static void who_loads_for_long_makes_room(void **state) {
    (void)state;
    const struct workers_rules rules = {.places = {[WORKER_LOADS] = 2, [WORKER_LOADS_LONG] = 2},
                                        .waiting = 20,
                                        .prompt = 1,
                                        .patience_ms = 1,
                                        .long_ms = 1};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task tasks[3] = {0};
    struct worker_asker asker = {0};
    for (size_t i = 0; i < 3; i++) take(workers, &of, &tasks[i], &asker);
    for (size_t i = 0; i < 2; i++) sem_wait(&of.begun);
    other_threads_wait_all();
    assert_false(has_begun(&tasks[2]));
    end_tasks(workers, &of, 3);
    assert_int_equal(asker.working[WORKER_LOADS] + asker.working[WORKER_LOADS_LONG], 0);
}

// One loads, and of four that may wait its address has two: no more than it leaves free.
static void who_is_one_too_many_is_refused(void **state) {
    (void)state;
    const struct workers_rules rules = {.places = PLACES(2, 2), .waiting = 4, .prompt = 4, .patience_ms = AN_HOUR_MS};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task tasks[10] = {0}, late = {.of = &of}, other = {0};
    struct worker_asker asker = {0}, another = {0};
    for (size_t i = 0; i < 10; i++) {
        tasks[i].has_to_load = true;
        take(workers, &of, &tasks[i], &asker);
    }
    other_threads_wait_all();
    late.job = (struct worker_job){.work = work, .done = done, .context = &late, .asker = &asker, .has_to_load = true};
    assert_false(workers_take(workers, &late.job));
    take(workers, &of, &other, &another);
    for (size_t i = 0; i < 2; i++) sem_wait(&of.begun);
    assert_true(has_begun(&other));
    end_tasks(workers, &of, 4);
    size_t refused = 0;
    for (size_t i = 0; i < 10; i++) refused += tasks[i].is_refused;
    assert_int_equal(refused, 7);
    assert_int_equal(asker.waiting[WORKER_LOADS], 0);
}

enum { MANY = 100, PROMPT = 2 };

// MANY jobs of one address, of which two may begin at once.
static struct workers *take_many(int patience_ms, struct tasks *of, struct task tasks[MANY],
                                 struct worker_asker *asker) {
    const struct workers_rules rules = {.places = {2 * MANY}, .prompt = PROMPT, .patience_ms = (unsigned)patience_ms};
    struct workers *workers = begin_tasks(&rules, of);
    for (size_t i = 0; i < MANY; i++) take(workers, of, &tasks[i], asker);
    return workers;
}

// However many there are: none begins before one of the first has ended, unless that takes longer than an hour.
static void few_are_at_work_while_jobs_end(void **state) {
    (void)state;
    struct tasks of;
    struct task tasks[MANY] = {0};
    struct worker_asker asker = {0};
    struct workers *workers = take_many(AN_HOUR_MS, &of, tasks, &asker);
    for (size_t i = 0; i < MANY; i++) {
        sem_wait(&of.begun);
        if (i + 1 >= PROMPT) {
            other_threads_wait_all();
            assert_int_not_equal(sem_trywait(&of.begun), 0);
            let_end(&of, 1);
        }
    }
    let_end(&of, PROMPT);
    workers_finish(workers);
    assert_int_equal(of.count, MANY);
    workers_free(workers);
}

// None ends, and all of them begin nevertheless.
static void jobs_that_are_held_up_hold_up_no_others(void **state) {
    (void)state;
    struct tasks of;
    struct task tasks[MANY] = {0};
    struct worker_asker asker = {0};
    struct workers *workers = take_many(1, &of, tasks, &asker);
    for (size_t i = 0; i < MANY; i++) sem_wait(&of.begun);
    end_tasks(workers, &of, MANY);
    assert_int_equal(asker.working[WORKER_LOADS], 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_leave_threads_to_others),
        cmocka_unit_test(whose_address_has_the_fewest_at_work_goes_first),
        cmocka_unit_test(what_is_kept_does_not_wait_for_what_is_not),
        cmocka_unit_test(what_is_urgent_does_not_wait_for_loads),
        cmocka_unit_test(who_loads_for_long_makes_room),
        cmocka_unit_test(who_is_one_too_many_is_refused),
        cmocka_unit_test(few_are_at_work_while_jobs_end),
        cmocka_unit_test(jobs_that_are_held_up_hold_up_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
