#include "server/http/workers.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { THREADS_KEPT = 4, SPARE_SECONDS = 10 };

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t wanted;    // an idle thread
    pthread_cond_t finished;  // a job is done, or a thread has ended
    struct worker_job *first, *last;
    unsigned queued, threads, idle, busy, threads_max, share;
    bool is_over, has_ended;
    pthread_t last_ended;  // the one thread that nobody has joined yet, when `has_ended`
};

// --- The queue (the lock is held) ---

// The oldest job whose address may have one more; NULL: there is none.
static struct worker_job *take_out(struct workers *workers) {
    struct worker_job *before = NULL, *job = workers->first;
    for (; job && *job->working >= workers->share; job = job->next) before = job;
    if (!job) return NULL;
    *(before ? &before->next : &workers->first) = job->next;
    if (workers->last == job) workers->last = before;
    workers->queued--;
    return job;
}

static void append(struct workers *workers, struct worker_job *job) {
    job->next = NULL;
    *(workers->last ? &workers->last->next : &workers->first) = job;
    workers->last = job;
    workers->queued++;
}

// --- A thread ---

static void run_job(struct workers *workers, struct worker_job *job) {
    void (*done)(void *) = job->done;
    void *context = job->context;
    unsigned *working = job->working;
    workers->busy++;
    ++*working;
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

// False: this thread is not needed any more.
static bool wait_for_job(struct workers *workers) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += SPARE_SECONDS;
    workers->idle++;
    int late = pthread_cond_timedwait(&workers->wanted, &workers->lock, &until);
    workers->idle--;
    return late == 0 || workers->first || workers->threads <= THREADS_KEPT;
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

static void *run(void *context) {
    struct workers *workers = context;
    pthread_mutex_lock(&workers->lock);
    for (;;) {
        struct worker_job *job = take_out(workers);
        if (job)
            run_job(workers, job);
        else if (workers->is_over || !wait_for_job(workers))
            break;
    }
    end(workers);
    return NULL;
}

static void add_thread(struct workers *workers) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, workers) != 0) return;
    workers->threads++;
}

bool workers_take(struct workers *workers, struct worker_job *job) {
    pthread_mutex_lock(&workers->lock);
    if (workers->idle <= workers->queued && workers->threads < workers->threads_max) add_thread(workers);
    bool is_taken = workers->threads > 0;
    if (is_taken) {
        append(workers, job);
        pthread_cond_signal(&workers->wanted);
    }
    pthread_mutex_unlock(&workers->lock);
    return is_taken;
}

// --- Beginning and end ---

struct workers *workers_new(unsigned threads_max, unsigned share) {
    struct workers *workers = calloc(1, sizeof *workers);
    if (!workers) return NULL;
    workers->threads_max = threads_max;
    workers->share = share;
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
