#include "server/store/stillness.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "analysis/base/steady_clock.h"
#include "analysis/input/folder_watch.h"
#include "analysis/input/local_storage.h"
#include "server/steady_wait.h"

enum {
    SECOND_MS = 1000,
    UNUSED_MS = 10000,  // then it is not watched any more
    AGAIN_MS = 30000,   // what could not be watched may be by then
    COST_SHARE = 4,     // walks take at most a fifth of the time
};

struct stillness {
    const char *path;
    bool is_local;
    pthread_mutex_t lock;
    pthread_cond_t wanted;  // the thread
    // The lock is held for what follows.
    pthread_t thread;
    bool has_thread, is_over;
    bool is_wanted;   // the thread has something to hear, or to begin
    bool is_walking;  // it is at it: `watch` is the thread's
    bool is_watched;
    struct folder_watch watch;
    uint64_t generation;  // grows with each change that was heard of
    int64_t rests_until_ms;
    int64_t second_ms;  // when it began
    unsigned missed_in_second;
    // Without the lock, for it is asked for each answer: `told` is the generation while `descriptor` can tell of news,
    // and else 0. It is 0 before what was told is taken and before the descriptor is closed; so whoever finds the same
    // after asking as before has asked the right one.
    _Atomic uint64_t told;
    atomic_int descriptor;
    _Atomic int64_t used_ms;
};

struct stillness *stillness_new(const struct storage *storage, const char *path) {
    struct stillness *stillness = calloc(1, sizeof *stillness);
    if (!stillness) return NULL;
    stillness->path = path;
    stillness->is_local = storage == local_storage() || storage == local_storage_following();
    pthread_mutex_init(&stillness->lock, NULL);
    steady_condition_init(&stillness->wanted);
    return stillness;
}

// --- The thread (the lock is held, but while it walks) ---

static bool walk(struct stillness *stillness) {
    if (!stillness->is_watched) return folder_watch_begin(&stillness->watch, stillness->path, FOLDER_HEAR_ALL);
    if (folder_watch_hear(&stillness->watch)) return true;
    folder_watch_end(&stillness->watch);
    return false;
}

static void tell(struct stillness *stillness) {
    bool can_tell = stillness->is_watched && !stillness->is_walking;
    if (can_tell) atomic_store(&stillness->descriptor, stillness->watch.descriptor);
    atomic_store(&stillness->told, can_tell ? stillness->generation : 0);
}

static void attend(struct stillness *stillness) {
    stillness->is_wanted = false;
    stillness->is_walking = true;
    tell(stillness);
    pthread_mutex_unlock(&stillness->lock);
    int64_t begun_ms = steady_ms();
    bool is_watched = walk(stillness);
    int64_t ended_ms = steady_ms();
    pthread_mutex_lock(&stillness->lock);
    stillness->is_walking = false;
    stillness->is_watched = is_watched;
    stillness->generation++;
    tell(stillness);
    stillness->rests_until_ms = ended_ms + (is_watched ? COST_SHARE * (ended_ms - begun_ms) : AGAIN_MS);
}

static void stop_watching(struct stillness *stillness) {
    bool was_watched = stillness->is_watched;
    stillness->is_watched = false;
    tell(stillness);
    if (was_watched) folder_watch_end(&stillness->watch);
}

static void wait_until(struct stillness *stillness, int64_t until_ms) {
    (void)steady_wait(&stillness->wanted, &stillness->lock, until_ms - steady_ms());
}

static void pass_time(struct stillness *stillness) {
    int64_t now = steady_ms(), unused_ms = stillness->used_ms + UNUSED_MS;
    if (stillness->is_wanted && now < stillness->rests_until_ms)
        wait_until(stillness, stillness->rests_until_ms);
    else if (stillness->is_wanted)
        attend(stillness);
    else if (!stillness->is_watched)
        pthread_cond_wait(&stillness->wanted, &stillness->lock);
    else if (now < unused_ms)
        wait_until(stillness, unused_ms);
    else
        stop_watching(stillness);
}

static void *run(void *context) {
    struct stillness *stillness = context;
    pthread_mutex_lock(&stillness->lock);
    while (!stillness->is_over) pass_time(stillness);
    stop_watching(stillness);
    pthread_mutex_unlock(&stillness->lock);
    return NULL;
}

void stillness_free(struct stillness *stillness) {
    if (!stillness) return;
    pthread_mutex_lock(&stillness->lock);
    stillness->is_over = true;
    pthread_cond_signal(&stillness->wanted);
    bool has_thread = stillness->has_thread;
    pthread_mutex_unlock(&stillness->lock);
    if (has_thread) pthread_join(stillness->thread, NULL);
    pthread_cond_destroy(&stillness->wanted);
    pthread_mutex_destroy(&stillness->lock);
    free(stillness);
}

// --- What is asked of it ---

// The generation, when the system tells of changes and has told of none since; else 0.
static uint64_t still_generation(struct stillness *stillness) {
    uint64_t told = atomic_load(&stillness->told);
    if (!told) return 0;
    const struct folder_watch asked = {.descriptor = atomic_load(&stillness->descriptor)};
    bool is_still = !folder_watch_has_news(&asked) && atomic_load(&stillness->told) == told;
    return is_still ? told : 0;
}

struct stillness_mark stillness_mark(struct stillness *stillness) {
    struct stillness_mark mark = {1, steady_ms()};
    if (stillness->path) mark.generation = still_generation(stillness);
    return mark;
}

bool stillness_holds(struct stillness *stillness, const struct stillness_mark *mark) {
    if (!mark->generation || !stillness->path) return mark->generation;
    int64_t now = steady_ms();
    atomic_store(&stillness->used_ms, now);
    return now - mark->taken_ms <= STILLNESS_MS && still_generation(stillness) == mark->generation;
}

// The lock is held.
static bool is_often(struct stillness *stillness) {
    if (stillness->used_ms - stillness->second_ms >= SECOND_MS) {
        stillness->second_ms = stillness->used_ms;
        stillness->missed_in_second = 0;
    }
    return ++stillness->missed_in_second >= STILLNESS_OFTEN || stillness->is_watched;
}

static void wake(struct stillness *stillness) {
    if (!stillness->has_thread) stillness->has_thread = pthread_create(&stillness->thread, NULL, run, stillness) == 0;
    stillness->is_wanted = true;
    pthread_cond_signal(&stillness->wanted);
}

void stillness_is_missed(struct stillness *stillness) {
    if (!stillness->path || !stillness->is_local) return;
    pthread_mutex_lock(&stillness->lock);
    stillness->used_ms = steady_ms();
    if (is_often(stillness) && !stillness->is_walking && !stillness->is_wanted && !still_generation(stillness))
        wake(stillness);
    pthread_mutex_unlock(&stillness->lock);
}
