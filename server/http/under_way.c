#define _GNU_SOURCE  // POLLRDHUP
#include "server/http/under_way.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "analysis/base/steady_clock.h"
#include "server/steady_wait.h"

enum { TICK_MS = 100, IDLE_TICKS = 20 };

struct under_way {
    struct cache *cache;
    pthread_mutex_t lock;
    pthread_cond_t wanted;  // the thread
    pthread_t thread;
    struct under_way_request *newest;
    unsigned idle_ticks;  // IDLE_TICKS: the thread sleeps until it is wanted
    bool is_stopped, is_over;
};

static int what_ended(int socket) {
    struct pollfd asked = {.fd = socket, .events = POLLRDHUP};
    return poll(&asked, 1, 0) > 0 ? asked.revents : 0;
}

bool under_way_has_closed(int socket) {
    return what_ended(socket) != 0;
}

// --- The thread (the lock is held) ---

static bool has_hung_up(struct under_way_request *one) {
    int ended = what_ended(one->socket);
    if (ended & (POLLHUP | POLLERR)) return true;
    if (!ended) return false;
    if (!one->closed_ms) one->closed_ms = steady_ms();
    return steady_ms() - one->closed_ms >= UNDER_WAY_GRACE_MS;
}

static void give_up_who_left(struct under_way *under_way) {
    for (struct under_way_request *one = under_way->newest; one; one = one->older) {
        if (!reading_is_abandoned(one->reading) && has_hung_up(one)) cache_abandon(under_way->cache, one->reading);
    }
}

static void wait_a_tick(struct under_way *under_way) {
    (void)steady_wait(&under_way->wanted, &under_way->lock, TICK_MS);
}

static void *run(void *context) {
    struct under_way *under_way = context;
    pthread_mutex_lock(&under_way->lock);
    while (!under_way->is_over) {
        if (under_way->idle_ticks == IDLE_TICKS)
            pthread_cond_wait(&under_way->wanted, &under_way->lock);
        else
            wait_a_tick(under_way);
        if (!under_way->newest && under_way->idle_ticks < IDLE_TICKS) under_way->idle_ticks++;
        give_up_who_left(under_way);
    }
    pthread_mutex_unlock(&under_way->lock);
    return NULL;
}

struct under_way *under_way_new(struct cache *cache) {
    struct under_way *under_way = calloc(1, sizeof *under_way);
    if (!under_way) return NULL;
    under_way->cache = cache;
    under_way->idle_ticks = IDLE_TICKS;
    pthread_mutex_init(&under_way->lock, NULL);
    steady_condition_init(&under_way->wanted);
    if (pthread_create(&under_way->thread, NULL, run, under_way) == 0) return under_way;
    free(under_way);
    return NULL;
}

void under_way_free(struct under_way *under_way) {
    if (!under_way) return;
    pthread_mutex_lock(&under_way->lock);
    under_way->is_over = true;
    pthread_cond_signal(&under_way->wanted);
    pthread_mutex_unlock(&under_way->lock);
    pthread_join(under_way->thread, NULL);
    pthread_cond_destroy(&under_way->wanted);
    pthread_mutex_destroy(&under_way->lock);
    free(under_way);
}

// --- Requests ---

void under_way_begin(struct under_way *under_way, struct under_way_request *request) {
    request->begun_ms = steady_ms();
    request->closed_ms = 0;
    request->newer = NULL;
    pthread_mutex_lock(&under_way->lock);
    request->older = under_way->newest;
    if (request->older) request->older->newer = request;
    under_way->newest = request;
    if (under_way->is_stopped) cache_abandon(under_way->cache, request->reading);
    if (under_way->idle_ticks == IDLE_TICKS) pthread_cond_signal(&under_way->wanted);
    under_way->idle_ticks = 0;
    pthread_mutex_unlock(&under_way->lock);
}

void under_way_end(struct under_way *under_way, struct under_way_request *request) {
    pthread_mutex_lock(&under_way->lock);
    *(request->newer ? &request->newer->older : &under_way->newest) = request->older;
    if (request->older) request->older->newer = request->newer;
    pthread_mutex_unlock(&under_way->lock);
}

void under_way_stop(struct under_way *under_way) {
    pthread_mutex_lock(&under_way->lock);
    under_way->is_stopped = true;
    for (struct under_way_request *one = under_way->newest; one; one = one->older)
        cache_abandon(under_way->cache, one->reading);
    pthread_mutex_unlock(&under_way->lock);
}

// --- Telling ---

static struct under_way_row *tell(struct under_way *under_way, const struct reading *mine, struct arena *arena,
                                  size_t *row_count) {
    struct under_way_row *rows = arena_new(arena, struct under_way_row, UNDER_WAY_ROWS_MAX);
    const struct under_way_request *one = rows ? under_way->newest : NULL;
    for (; one && *row_count < UNDER_WAY_ROWS_MAX; one = one->older) {
        struct under_way_row *row = &rows[*row_count];
        if (one->reading == mine) continue;
        row->target = arena_string(arena, bytes_of(one->target));
        row->waited_ms = steady_ms() - one->begun_ms;
        row->reading = cache_look(under_way->cache, one->reading);
        if (!row->target) return NULL;
        ++*row_count;
    }
    return rows;
}

bool under_way_tell(struct under_way *under_way, const struct reading *mine, struct arena *arena,
                    struct under_way_row **rows, size_t *row_count) {
    *row_count = 0;
    pthread_mutex_lock(&under_way->lock);
    *rows = tell(under_way, mine, arena, row_count);
    pthread_mutex_unlock(&under_way->lock);
    return *rows;
}
