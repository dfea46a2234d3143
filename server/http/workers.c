#include "server/http/workers.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_KEPT = 4, SPARE_MS = 10000 };

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t wanted;    // an idle thread
    pthread_cond_t finished;  // a job is done, or a thread has ended
    struct worker_job *first, *last;
    unsigned queued, threads, idle, busy;
    uint64_t taken_out;
    bool is_watched;  // by one of the idle
    struct workers_rules rules;
    bool is_over, has_ended;
    pthread_t last_ended;  // the one thread that nobody has joined yet, when `has_ended`
};

// --- The queue (the lock is held) ---

// The oldest job whose address may have one more; NULL: there is none.
static struct worker_job *take_out(struct workers *workers) {
    struct worker_job *before = NULL, *job = workers->first;
    for (; job && *job->working >= workers->rules.share; job = job->next) before = job;
    if (!job) return NULL;
    *(before ? &before->next : &workers->first) = job->next;
    if (workers->last == job) workers->last = before;
    workers->queued--;
    workers->taken_out++;
    return job;
}

static void append(struct workers *workers, struct worker_job *job) {
    job->next = NULL;
    *(workers->last ? &workers->last->next : &workers->first) = job;
    workers->last = job;
    workers->queued++;
}

static void forget_all(struct workers *workers) {
    workers->first = workers->last = NULL;
    workers->queued = 0;
}

// --- Threads come (the lock is held) ---

static void *run(void *context);

static void add_thread(struct workers *workers) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, workers) != 0) return;
    workers->threads++;
}

static bool are_enough_at_work(const struct workers *workers) {
    return workers->busy >= workers->rules.prompt;
}

// How many threads without a job there must be: one for each that is to begin now, and one that watches the rest.
static unsigned threads_wanted(const struct workers *workers) {
    unsigned prompt = are_enough_at_work(workers) ? 0 : workers->rules.prompt - workers->busy;
    return workers->queued <= prompt ? workers->queued : prompt + 1;
}

static void call_threads(struct workers *workers) {
    unsigned wanted = threads_wanted(workers), spare = workers->threads - workers->busy;
    if (spare < wanted && workers->threads < workers->rules.threads_max) add_thread(workers);
    bool is_for_watcher = are_enough_at_work(workers) && workers->is_watched;
    if (wanted && workers->idle && !is_for_watcher) pthread_cond_signal(&workers->wanted);
}

// --- A thread ---

static void run_job(struct workers *workers, struct worker_job *job) {
    void (*done)(void *) = job->done;
    void *context = job->context;
    unsigned *working = job->working;
    workers->busy++;
    ++*working;
    call_threads(workers);
    pthread_mutex_unlock(&workers->lock);
    job->work(context);
    pthread_mutex_lock(&workers->lock);
    --*working;
    pthread_mutex_unlock(&workers->lock);
    done(context);
    pthread_mutex_lock(&workers->lock);
    workers->busy--;
    pthread_cond_broadcast(&workers->finished);
}

// True: nobody called.
static bool wait_for_call(struct workers *workers, unsigned milliseconds) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += milliseconds / 1000;
    until.tv_nsec += milliseconds % 1000 * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    workers->idle++;
    int late = pthread_cond_timedwait(&workers->wanted, &workers->lock, &until);
    workers->idle--;
    return late != 0;
}

// True: jobs wait, and none of them has begun for a moment.
static bool watch(struct workers *workers) {
    uint64_t before = workers->taken_out;
    workers->is_watched = true;
    bool is_over = wait_for_call(workers, workers->rules.patience_ms);
    workers->is_watched = false;
    return is_over && workers->first && before == workers->taken_out;
}

// False: this thread is not needed any more.
static bool rest(struct workers *workers) {
    return !wait_for_call(workers, SPARE_MS) || workers->first || workers->threads <= THREADS_KEPT;
}

// The lock is held, and given back. Each thread that ends waits for the one that ended before it, and the workers for
// the last: what libraries keep for a thread is gone when they are.
static void end(struct workers *workers) {
    bool has_before = workers->has_ended;
    pthread_t before = workers->last_ended;
    workers->has_ended = true;
    workers->last_ended = pthread_self();
    workers->threads--;
    pthread_cond_broadcast(&workers->finished);
    pthread_mutex_unlock(&workers->lock);
    if (has_before) pthread_join(before, NULL);
}

// A thread that has done a job takes the next one. Another one begins when few are at work, or nothing moves.
static void *run(void *context) {
    struct workers *workers = context;
    bool may_take = false;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        bool is_held_back = !may_take && are_enough_at_work(workers);
        struct worker_job *job = is_held_back ? NULL : take_out(workers);
        may_take = job != NULL;
        if (job)
            run_job(workers, job);
        else if (workers->is_over)
            break;
        else if (is_held_back && workers->first && !workers->is_watched)
            may_take = watch(workers);
        else if (!rest(workers))
            break;
    }
    end(workers);
    return NULL;
}

bool workers_take(struct workers *workers, struct worker_job *job) {
    pthread_mutex_lock(&workers->lock);
    append(workers, job);
    call_threads(workers);
    bool is_taken = workers->threads > 0;
    if (!is_taken) forget_all(workers);
    pthread_mutex_unlock(&workers->lock);
    return is_taken;
}

// --- Beginning and end ---

struct workers *workers_new(const struct workers_rules *rules) {
    struct workers *workers = calloc(1, sizeof *workers);
    if (!workers) return NULL;
    workers->rules = *rules;
    pthread_mutex_init(&workers->lock, NULL);
    pthread_cond_init(&workers->wanted, NULL);
    pthread_cond_init(&workers->finished, NULL);
    return workers;
}

void workers_finish(struct workers *workers) {
    pthread_mutex_lock(&workers->lock);
    while (workers->first || workers->busy) pthread_cond_wait(&workers->finished, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
}

void workers_free(struct workers *workers) {
    if (!workers) return;
    workers_finish(workers);
    pthread_mutex_lock(&workers->lock);
    workers->is_over = true;
    pthread_cond_broadcast(&workers->wanted);
    while (workers->threads) pthread_cond_wait(&workers->finished, &workers->lock);
    pthread_mutex_unlock(&workers->lock);
    if (workers->has_ended) pthread_join(workers->last_ended, NULL);
    pthread_cond_destroy(&workers->finished);
    pthread_cond_destroy(&workers->wanted);
    pthread_mutex_destroy(&workers->lock);
    free(workers);
}
