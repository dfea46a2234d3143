#include "analysis/base/parallel.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/refused_memory.h"
#include "analysis/base/steady_clock.h"

struct parallel_part {
    void (*run)(void *context, size_t index);
    void *context;
    size_t index;
    uint64_t refusals;
    pthread_t thread;
    bool has_thread;
};

static void *run_part(void *argument) {
    struct parallel_part *part = argument;
    part->run(part->context, part->index);
    part->refusals = memory_refusals();
    return NULL;
}

void parallel_run(void (*run)(void *context, size_t index), void *context, size_t count) {
    struct parallel_part parts[PARALLEL_MAX];
    for (size_t i = 1; i < count && i < PARALLEL_MAX; i++) {
        parts[i] = (struct parallel_part){.run = run, .context = context, .index = i};
        parts[i].has_thread = pthread_create(&parts[i].thread, NULL, run_part, &parts[i]) == 0;
    }
    if (count) run(context, 0);
    for (size_t i = 1; i < count && i < PARALLEL_MAX; i++) {
        if (parts[i].has_thread)
            pthread_join(parts[i].thread, NULL);
        else
            run(context, i);
        memory_refusals_add(parts[i].refusals);
    }
}

// --- Each item of many ---

enum { ALONE_NS_MAX = 2 * 1000 * 1000 };

struct items {
    void (*run)(void *context, size_t item, size_t worker);
    void *context;
    size_t count;
    atomic_size_t next;
};

struct worker {
    struct items *items;
    size_t number;
    uint64_t refusals;
    pthread_t thread;
    bool has_thread;
};

static struct {
    atomic_size_t at_work;  // for items, in the whole process
} threads;

// Takes up to half of those that are left, so that the next who asks finds some.
static size_t take_threads(size_t wanted) {
    size_t taken = atomic_load(&threads.at_work), count;
    do {
        size_t half = (PARALLEL_THREADS_MAX - taken + 1) / 2;
        count = wanted < half ? wanted : half;
    } while (!atomic_compare_exchange_weak(&threads.at_work, &taken, taken + count));
    return count;
}

static void give_threads(size_t count) {
    atomic_fetch_sub(&threads.at_work, count);
}

static bool do_next(struct items *items, size_t worker) {
    size_t item = atomic_fetch_add(&items->next, 1);
    if (item >= items->count) return false;
    items->run(items->context, item, worker);
    return true;
}

static void *run_worker(void *argument) {
    struct worker *worker = argument;
    while (do_next(worker->items, worker->number)) continue;
    worker->refusals = memory_refusals();
    return NULL;
}

static void run_together(struct items *items) {
    struct worker workers[PARALLEL_EACH_MAX];
    size_t left = items->count - atomic_load(&items->next);
    size_t wanted = left < PARALLEL_EACH_MAX ? left : PARALLEL_EACH_MAX;
    size_t count = 1 + take_threads(wanted ? wanted - 1 : 0);
    for (size_t i = 1; i < count; i++) {
        workers[i] = (struct worker){.items = items, .number = i};
        workers[i].has_thread = pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) == 0;
    }
    while (do_next(items, 0)) continue;
    for (size_t i = 1; i < count; i++) {
        if (workers[i].has_thread) pthread_join(workers[i].thread, NULL);
        memory_refusals_add(workers[i].refusals);
    }
    give_threads(count - 1);
}

void parallel_each(void (*run)(void *context, size_t item, size_t worker), void *context, size_t count) {
    struct items items = {.run = run, .context = context, .count = count};
    atomic_init(&items.next, 0);
    int64_t begun_ns = count > 1 ? steady_ns() : 0;
    while (do_next(&items, 0)) {
        bool is_worth_it = atomic_load(&items.next) + 1 < count && steady_ns() - begun_ns > ALONE_NS_MAX;
        if (is_worth_it) return run_together(&items);
    }
}
