#include "server/store/memory_keeper.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/base/memory_room.h"
#include "analysis/base/refused_memory.h"
#include "server/steady_wait.h"

enum { QUIET_MS = 1000, WATCHFUL_MS = 100 };

struct memory_keeper {
    struct cache *cache;
    const struct resident_count *resident;
    pthread_mutex_t lock;
    pthread_cond_t stopped;
    bool is_stopped;
    pthread_t thread;
};

static void give_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

// Where there is a limit, what nobody counts must not grow far unseen.
static int64_t rest_ms(void) {
    return memory_room_limit() ? WATCHFUL_MS : QUIET_MS;
}

// False when the keeper was stopped meanwhile.
static bool rest(struct memory_keeper *keeper) {
    pthread_mutex_lock(&keeper->lock);
    if (!keeper->is_stopped) (void)steady_wait(&keeper->stopped, &keeper->lock, rest_ms());
    bool goes_on = !keeper->is_stopped;
    pthread_mutex_unlock(&keeper->lock);
    return goes_on;
}

// What the process has taken that nobody counts.
static size_t beside(const struct memory_keeper *keeper) {
    size_t own = resident_memory_read(keeper->resident).own_bytes, counted = memory_room_taken();
    return own > counted ? own - counted : 0;
}

static void *keep(void *context) {
    struct memory_keeper *keeper = context;
    size_t before = 0, trimmed = 0;
    while (rest(keeper)) {
        struct cache_stats stats = cache_stats_read(keeper->cache);
        bool is_quiet = stats.loads == before && stats.load_counts.running == 0;
        if ((is_quiet && stats.loads != trimmed) || beside(keeper) > KEEPER_BESIDE_BYTES) {
            give_back();
            trimmed = stats.loads;
        }
        size_t left = beside(keeper);
        memory_room_leave(left > KEEPER_PROGRAM_BYTES ? left : KEEPER_PROGRAM_BYTES);
        before = stats.loads;
    }
    return NULL;
}

struct memory_keeper *memory_keeper_new(struct cache *cache, const struct resident_count *resident) {
    struct memory_keeper *keeper = memory_or_refusal(calloc(1, sizeof *keeper));
    if (!keeper) return NULL;
    keeper->cache = cache;
    keeper->resident = resident;
    memory_room_leave(KEEPER_PROGRAM_BYTES);
    pthread_mutex_init(&keeper->lock, NULL);
    steady_condition_init(&keeper->stopped);
    if (pthread_create(&keeper->thread, NULL, keep, keeper) == 0) return keeper;
    pthread_cond_destroy(&keeper->stopped);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
    return NULL;
}

void memory_keeper_free(struct memory_keeper *keeper) {
    if (!keeper) return;
    pthread_mutex_lock(&keeper->lock);
    keeper->is_stopped = true;
    pthread_cond_signal(&keeper->stopped);
    pthread_mutex_unlock(&keeper->lock);
    pthread_join(keeper->thread, NULL);
    pthread_cond_destroy(&keeper->stopped);
    pthread_mutex_destroy(&keeper->lock);
    free(keeper);
}
