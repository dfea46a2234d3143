#include "server/http/bodies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/steady_clock.h"

enum { SLOW_AGE_MS = 1000 };

struct bodies {
    pthread_mutex_t lock;
    size_t max_bytes, used_bytes;
    struct body *newest;  // of those that are unfinished
};

struct bodies *bodies_new(size_t max_bytes) {
    struct bodies *bodies = calloc(1, sizeof *bodies);
    if (!bodies) return NULL;
    bodies->max_bytes = max_bytes;
    pthread_mutex_init(&bodies->lock, NULL);
    return bodies;
}

void bodies_free(struct bodies *bodies) {
    if (!bodies) return;
    pthread_mutex_destroy(&bodies->lock);
    free(bodies);
}

// --- Room (the lock is held) ---

static void give_back(struct body *body) {
    body->bodies->used_bytes -= body->size;
    large_block_release(&body->block);
    body->size = 0;
}

static void unlink_body(struct body *body) {
    if (!body->is_linked) return;
    *(body->newer ? &body->newer->older : &body->bodies->newest) = body->older;
    if (body->older) body->older->newer = body->newer;
    body->is_linked = false;
}

static struct body *slowest(const struct bodies *bodies, const struct body *but) {
    struct body *found = NULL;
    double least = 0;
    int64_t now = steady_ms();
    for (struct body *one = bodies->newest; one; one = one->older) {
        int64_t age_ms = now - one->begun_ms;
        if (one == but || age_ms < SLOW_AGE_MS || !one->size) continue;
        double rate = (double)one->size / (double)age_ms;
        if (found && rate >= least) continue;
        found = one;
        least = rate;
    }
    return found;
}

static bool find_room(struct bodies *bodies, const struct body *body, size_t bytes) {
    while (bytes > bodies->max_bytes || bodies->used_bytes > bodies->max_bytes - bytes) {
        struct body *slow = slowest(bodies, body);
        if (!slow) return false;
        give_back(slow);
        slow->fate = BODY_MADE_ROOM;
    }
    return true;
}

static enum body_fate take(struct body *body, struct bytes piece) {
    size_t size = body->size + piece.size;
    if (size > body->limit_bytes) return BODY_TOO_LARGE;
    if (!find_room(body->bodies, body, piece.size)) return BODY_NO_ROOM;
    if (!large_block_reserve(&body->block, size)) return BODY_NO_ROOM;
    memcpy((uint8_t *)body->block.data + body->size, piece.data, piece.size);
    body->size = size;
    body->bodies->used_bytes += piece.size;
    return BODY_KEPT;
}

// --- A body ---

void body_begin(struct bodies *bodies, struct body *body, size_t limit_bytes) {
    *body = (struct body){.bodies = bodies, .limit_bytes = limit_bytes, .begun_ms = steady_ms(), .is_linked = true};
    pthread_mutex_lock(&bodies->lock);
    body->older = bodies->newest;
    if (body->older) body->older->newer = body;
    bodies->newest = body;
    pthread_mutex_unlock(&bodies->lock);
}

void body_append(struct body *body, struct bytes piece) {
    pthread_mutex_lock(&body->bodies->lock);
    if (body->fate == BODY_KEPT) {
        body->fate = take(body, piece);
        if (body->fate != BODY_KEPT) give_back(body);
    }
    pthread_mutex_unlock(&body->bodies->lock);
}

enum body_fate body_finish(struct body *body) {
    if (!body->bodies) return BODY_KEPT;
    pthread_mutex_lock(&body->bodies->lock);
    unlink_body(body);
    enum body_fate fate = body->fate;
    pthread_mutex_unlock(&body->bodies->lock);
    return fate;
}

struct bytes body_bytes(const struct body *body) {
    return (struct bytes){body->block.data, body->size};
}

void body_end(struct body *body) {
    if (!body->bodies) return;
    pthread_mutex_lock(&body->bodies->lock);
    unlink_body(body);
    give_back(body);
    pthread_mutex_unlock(&body->bodies->lock);
    *body = (struct body){0};
}
