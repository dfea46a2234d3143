// Which job goes first, and which wait without a thread.
#include "tests/unit/cmocka_all.h"

#include <pthread.h>
#include <semaphore.h>

#include "server/http/workers.h"
#include "tests/unit/other_threads.h"

struct task {
    struct worker_job job;
    struct tasks *of;
    bool has_to_load, has_begun;
    unsigned order;  // in which it began
};

struct tasks {
    sem_t begun, may_end;
    pthread_mutex_t lock;
    unsigned count;  // that began
};

// Those of one address.
struct asker {
    unsigned working[WORKER_PLACES];
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
    (void)context;
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

static void take(struct workers *workers, struct tasks *of, struct task *task, struct asker *asker) {
    task->job = (struct worker_job){.work = work, .done = done, .context = task, .working = asker->working};
    task->of = of;
    assert_true(workers_take(workers, &task->job));
}

static void addresses_leave_threads_to_others(void **state) {
    (void)state;
    const struct workers_rules rules = {.places = {6}, .prompt = 6};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task tasks[20] = {0}, other = {0};
    struct asker greedy[2] = {0}, late = {0};
    for (size_t i = 0; i < 20; i++) take(workers, &of, &tasks[i], &greedy[i / 10]);
    take(workers, &of, &other, &late);
    other_threads_wait_all();
    assert_true(has_begun(&other));
    end_tasks(workers, &of, 21);
    assert_int_equal(greedy[0].working[WORKER_LOADS] + greedy[1].working[WORKER_LOADS], 0);
}

static void whose_address_has_the_fewest_at_work_goes_first(void **state) {
    (void)state;
    const struct workers_rules rules = {.places = {20}, .prompt = 2, .patience_ms = 3600000};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task tasks[3] = {0}, other = {0};
    struct asker greedy = {0}, late = {0};
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
    const struct workers_rules rules = {.places = {2, 2}, .prompt = 4};
    struct tasks of;
    struct workers *workers = begin_tasks(&rules, &of);
    struct task tasks[10] = {0}, kept = {0};
    struct asker asker = {0};
    for (size_t i = 0; i < 10; i++) tasks[i].has_to_load = true;
    for (size_t i = 0; i < 10; i++) take(workers, &of, &tasks[i], &asker);
    take(workers, &of, &kept, &asker);
    other_threads_wait_all();
    assert_true(has_begun(&kept));
    assert_int_equal(kept.order, 1);
    end_tasks(workers, &of, 11);
    assert_int_equal(asker.working[WORKER_LOADS] + asker.working[WORKER_LOOKS], 0);
}

enum { MANY = 100, PROMPT = 2 };

// MANY jobs of one address, of which two may begin at once.
static struct workers *take_many(int patience_ms, struct tasks *of, struct task tasks[MANY], struct asker *asker) {
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
    struct asker asker = {0};
    struct workers *workers = take_many(3600000, &of, tasks, &asker);
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
    struct asker asker = {0};
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
        cmocka_unit_test(few_are_at_work_while_jobs_end),
        cmocka_unit_test(jobs_that_are_held_up_hold_up_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
