#include "server/http/workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "analysis/base/steady_clock.h"
#include "server/steady_wait.h"

enum { THREADS_KEPT = 4, SPARE_MS = 10000 };

struct workers {
    pthread_mutex_t lock;
    pthread_cond_t wanted;            // an idle thread
    pthread_cond_t finished;          // a job is done, or a thread has ended
    struct worker_job *first, **end;  // the link where the next one goes
    struct worker_job *loading;       // those at WORKER_LOADS, the longest first
    unsigned queued, threads, idle;
    unsigned busy[WORKER_PLACES], waiting[WORKER_PLACES];
    uint64_t taken_out;
    bool is_watched;  // by one of the idle
    struct workers_rules rules;
    bool is_over, has_ended;
    pthread_t last_ended;  // the one thread that nobody has joined yet, when `has_ended`
};

static unsigned sum(const unsigned counts[WORKER_PLACES]) {
    unsigned all = 0;
    for (int place = 0; place < WORKER_PLACES; place++) all += counts[place];
    return all;
}

// --- Whose turn it is (the lock is held) ---

static bool has_place(const struct workers *workers, const struct worker_job *job, enum worker_place place) {
    return job->asker->working[place] < workers->rules.places[place] - workers->busy[place];
}

// WORKER_PLACES: there is none for it now.
static enum worker_place place_for(const struct workers *workers, const struct worker_job *job) {
    if (job->is_urgent && has_place(workers, job, WORKER_HURRIES)) return WORKER_HURRIES;
    if (has_place(workers, job, WORKER_LOADS)) return WORKER_LOADS;
    return !job->has_to_load && has_place(workers, job, WORKER_LOOKS) ? WORKER_LOOKS : WORKER_PLACES;
}

// The link to it; NULL: none may begin.
static struct worker_job **next_in_turn(struct workers *workers) {
    struct worker_job **next = NULL;
    for (struct worker_job **link = &workers->first; *link; link = &(*link)->next) {
        if (next && sum((*link)->asker->working) >= sum((*next)->asker->working)) continue;
        if (place_for(workers, *link) != WORKER_PLACES) next = link;
    }
    return next;
}

// --- Who is at work (the lock is held) ---

static void change_place(struct workers *workers, struct worker_job *job, enum worker_place place) {
    job->place = place;
    workers->busy[place]++;
    job->asker->working[place]++;
}

static void enter(struct workers *workers, struct worker_job *job, enum worker_place place) {
    change_place(workers, job, place);
    if (place != WORKER_LOADS) return;
    struct worker_job **link = &workers->loading;
    while (*link) link = &(*link)->next;
    *link = job;
    job->next = NULL;
    job->since_ms = steady_ms();
}

static void leave(struct workers *workers, struct worker_job *job) {
    struct worker_job **link = &workers->loading;
    while (*link && *link != job) link = &(*link)->next;
    if (*link) *link = job->next;
    job->asker->working[job->place]--;
}

// Who has loaded for long makes room for others.
static void set_long_apart(struct workers *workers) {
    int64_t before = steady_ms() - workers->rules.long_ms;
    for (struct worker_job *job = workers->loading, *next; job && job->since_ms <= before; job = next) {
        next = job->next;
        if (!has_place(workers, job, WORKER_LOADS_LONG)) continue;
        leave(workers, job);
        workers->busy[WORKER_LOADS]--;
        change_place(workers, job, WORKER_LOADS_LONG);
    }
}

// --- The queue (the lock is held) ---

// Where it is to begin. Whoever only looks is done with soon, and waits without a bound.
static enum worker_place place_awaited(const struct worker_job *job) {
    if (job->is_urgent) return WORKER_HURRIES;
    return job->has_to_load ? WORKER_LOADS : WORKER_LOOKS;
}

static bool may_wait(const struct workers *workers, const struct worker_job *job) {
    enum worker_place place = place_awaited(job);
    if (place == WORKER_LOOKS) return true;
    return job->asker->waiting[place] < workers->rules.waiting - workers->waiting[place];
}

static void count_waiting(struct workers *workers, const struct worker_job *job, unsigned change) {
    enum worker_place place = place_awaited(job);
    job->asker->waiting[place] += change;
    workers->waiting[place] += change;
    workers->queued += change;
}

static struct worker_job *unlink_job(struct workers *workers, struct worker_job **link) {
    struct worker_job *job = *link;
    *link = job->next;
    if (workers->end == &job->next) workers->end = link;
    count_waiting(workers, job, -1U);
    return job;
}

static struct worker_job *take_out(struct workers *workers) {
    set_long_apart(workers);
    struct worker_job **link = next_in_turn(workers);
    if (!link) return NULL;
    workers->taken_out++;
    return unlink_job(workers, link);
}

// False: too many wait.
static bool append(struct workers *workers, struct worker_job *job) {
    if (!may_wait(workers, job)) return false;
    job->next = NULL;
    *workers->end = job;
    workers->end = &job->next;
    count_waiting(workers, job, 1);
    return true;
}

static void forget_all(struct workers *workers) {
    while (workers->first) (void)unlink_job(workers, &workers->first);
}

// --- Threads come (the lock is held) ---

static void *run(void *context);

static void add_thread(struct workers *workers) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, workers) != 0) return;
    workers->threads++;
}

static bool are_enough_at_work(const struct workers *workers) {
    return sum(workers->busy) >= workers->rules.prompt;
}

// How many threads without a job there must be: one for each that is to begin now, and one that watches the rest.
static unsigned threads_wanted(const struct workers *workers) {
    unsigned prompt = are_enough_at_work(workers) ? 0 : workers->rules.prompt - sum(workers->busy);
    return workers->queued <= prompt ? workers->queued : prompt + 1;
}

static void call_threads(struct workers *workers) {
    unsigned wanted = threads_wanted(workers), spare = workers->threads - sum(workers->busy);
    if (spare < wanted && workers->threads < sum(workers->rules.places)) add_thread(workers);
    bool is_for_watcher = are_enough_at_work(workers) && workers->is_watched;
    if (wanted && workers->idle && !is_for_watcher) pthread_cond_signal(&workers->wanted);
}

// --- A thread ---

// Once it is told that it is done, neither the job nor its address may be there any more.
static void tell_done(struct workers *workers, const struct worker_job *job) {
    void (*done)(void *) = job->done;
    void *context = job->context;
    pthread_mutex_unlock(&workers->lock);
    done(context);
    pthread_mutex_lock(&workers->lock);
}

// False: it is refused.
static bool wait_to_load(struct workers *workers, struct worker_job *job) {
    job->has_to_load = true;
    job->is_refused = !append(workers, job);
    return !job->is_refused;
}

static void run_job(struct workers *workers, struct worker_job *job) {
    enum worker_place begun_at = place_for(workers, job);
    enter(workers, job, begun_at);
    call_threads(workers);
    pthread_mutex_unlock(&workers->lock);
    bool is_done = job->work(job->context, begun_at != WORKER_LOOKS);
    pthread_mutex_lock(&workers->lock);
    enum worker_place place = job->place;  // it may be another one by now
    leave(workers, job);
    if (is_done || !wait_to_load(workers, job)) tell_done(workers, job);
    workers->busy[place]--;
    pthread_cond_broadcast(&workers->finished);
}

// True: nobody called.
static bool wait_for_call(struct workers *workers, unsigned milliseconds) {
    workers->idle++;
    bool is_called = steady_wait(&workers->wanted, &workers->lock, milliseconds);
    workers->idle--;
    return !is_called;
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
        else if (workers->first && !workers->is_watched)
            may_take = watch(workers);
        else if (!rest(workers))
            break;
    }
    end(workers);
    return NULL;
}

bool workers_take(struct workers *workers, struct worker_job *job) {
    pthread_mutex_lock(&workers->lock);
    bool is_taken = append(workers, job);
    if (is_taken) call_threads(workers);
    if (is_taken && !workers->threads) {
        forget_all(workers);
        is_taken = false;
    }
    pthread_mutex_unlock(&workers->lock);
    return is_taken;
}

// --- Beginning and end ---

struct workers *workers_new(const struct workers_rules *rules) {
    struct workers *workers = calloc(1, sizeof *workers);
    if (!workers) return NULL;
    workers->rules = *rules;
    workers->end = &workers->first;
    pthread_mutex_init(&workers->lock, NULL);
    steady_condition_init(&workers->wanted);
    pthread_cond_init(&workers->finished, NULL);
    return workers;
}

void workers_finish(struct workers *workers) {
    pthread_mutex_lock(&workers->lock);
    while (workers->first || sum(workers->busy)) pthread_cond_wait(&workers->finished, &workers->lock);
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
