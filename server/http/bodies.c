#include "server/http/bodies.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/steady_clock.h"

enum { SLOW_AGE_MS = 1000, OWNER_BUCKETS = 256 };

// All bodies of one address, finished or not.
struct body_owner {
    struct body_owner *next;
    struct client_address of;
    size_t body_count, bytes;
};

struct bodies {
    pthread_mutex_t lock;
    size_t max_bytes, used_bytes;
    struct body *newest;  // of those that are unfinished
    struct body_owner *owners[OWNER_BUCKETS];
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

// --- Whose they are (all below: the lock is held, unless said otherwise) ---

static struct body_owner **owner_link(struct bodies *bodies, const struct client_address *of) {
    struct body_owner **link = &bodies->owners[client_address_hash(of) % OWNER_BUCKETS];
    while (*link && !client_address_is_same(&(*link)->of, of)) link = &(*link)->next;
    return link;
}

static struct body_owner *find_owner(struct bodies *bodies, const struct client_address *of) {
    struct body_owner **link = owner_link(bodies, of);
    struct body_owner *owner = *link ? *link : calloc(1, sizeof *owner);
    if (!owner) return NULL;
    *link = owner;
    owner->of = *of;
    owner->body_count++;
    return owner;
}

static void leave_owner(struct body *body) {
    struct body_owner *owner = body->owner;
    if (!owner || --owner->body_count) return;
    *owner_link(body->bodies, &owner->of) = owner->next;
    free(owner);
}

// --- Room ---

static void count_bytes(struct body *body, size_t change) {
    body->size += change;
    body->bodies->used_bytes += change;
    if (body->owner) body->owner->bytes += change;
}

static void give_back(struct body *body) {
    count_bytes(body, -body->size);
    large_block_release(&body->block);
}

static void unlink_body(struct body *body) {
    if (!body->is_linked) return;
    *(body->newer ? &body->newer->older : &body->bodies->newest) = body->older;
    if (body->older) body->older->newer = body->newer;
    body->is_linked = false;
}

static bool may_make_room(const struct body *one, const struct body *body, size_t bytes) {
    return one != body && one->size && (one->owner == body->owner || one->owner->bytes >= body->owner->bytes + bytes);
}

static struct body *slowest(const struct body *body, size_t bytes) {
    struct body *found = NULL;
    double least = 0;
    int64_t now = steady_ms();
    for (struct body *one = body->bodies->newest; one; one = one->older) {
        int64_t age_ms = now - one->begun_ms;
        if (age_ms < SLOW_AGE_MS || !may_make_room(one, body, bytes)) continue;
        double rate = (double)one->size / (double)age_ms;
        if (found && rate >= least) continue;
        found = one;
        least = rate;
    }
    return found;
}

static bool has_room(const struct body *body, size_t bytes) {
    const struct bodies *bodies = body->bodies;
    size_t kept = body->size + bytes > BODIES_SMALL_BYTES ? bodies->max_bytes / BODIES_SMALL_PART : 0;
    size_t free_bytes = bodies->max_bytes - bodies->used_bytes;
    return body->owner->bytes + bytes <= free_bytes && kept + bytes <= free_bytes;
}

static bool find_room(const struct body *body, size_t bytes) {
    while (!has_room(body, bytes)) {
        struct body *slow = slowest(body, bytes);
        if (!slow) return false;
        give_back(slow);
        slow->fate = BODY_MADE_ROOM;
    }
    return true;
}

static enum body_fate take(struct body *body, struct bytes piece) {
    size_t size = body->size + piece.size;
    if (size > body->limit_bytes) return BODY_TOO_LARGE;
    if (!body->owner) return BODY_NO_MEMORY;
    if (!find_room(body, piece.size)) return BODY_NO_ROOM;
    if (!large_block_reserve(&body->block, size)) return BODY_NO_MEMORY;
    memcpy((uint8_t *)body->block.data + body->size, piece.data, piece.size);
    count_bytes(body, piece.size);
    return BODY_KEPT;
}

// --- A body (without the lock) ---

void body_begin(struct bodies *bodies, struct body *body, const struct client_address *client, size_t limit_bytes) {
    *body = (struct body){.bodies = bodies, .limit_bytes = limit_bytes, .begun_ms = steady_ms(), .is_linked = true};
    pthread_mutex_lock(&bodies->lock);
    body->owner = find_owner(bodies, client);
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
    leave_owner(body);
    pthread_mutex_unlock(&body->bodies->lock);
    *body = (struct body){0};
}
