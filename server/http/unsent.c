#include "server/http/unsent.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

enum { SLOW_AGE_MS = 1000 };

struct unsent {
    pthread_mutex_t lock;
    size_t max_bytes, used_bytes, count;
    struct unsent_answer *newest;
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct unsent *unsent_new(size_t max_bytes) {
    struct unsent *unsent = calloc(1, sizeof *unsent);
    if (!unsent) return NULL;
    unsent->max_bytes = max_bytes;
    pthread_mutex_init(&unsent->lock, NULL);
    return unsent;
}

void unsent_free(struct unsent *unsent) {
    if (!unsent) return;
    pthread_mutex_destroy(&unsent->lock);
    free(unsent);
}

// --- What counts (all below: the lock is held, unless said otherwise) ---

static struct unsent_answer *other_of_body(const struct unsent *unsent, const struct unsent_answer *answer) {
    struct unsent_answer *other = unsent->newest;
    while (other && (other == answer || other->body.data != answer->body.data)) other = other->older;
    return other;
}

static void add(struct unsent *unsent, struct unsent_answer *answer) {
    answer->is_counted = !other_of_body(unsent, answer);
    unsent->used_bytes += answer->own_bytes + (answer->is_counted ? answer->body.size : 0);
    answer->older = unsent->newest;
    if (answer->older) answer->older->newer = answer;
    unsent->newest = answer;
    unsent->count++;
    answer->is_listed = true;
}

// The body counts for the next one who is sent it.
static void take_out(struct unsent_answer *answer) {
    struct unsent *unsent = answer->unsent;
    struct unsent_answer *heir = answer->is_counted ? other_of_body(unsent, answer) : NULL;
    if (heir) heir->is_counted = true;
    unsent->used_bytes -= answer->own_bytes + (answer->is_counted && !heir ? answer->body.size : 0);
    *(answer->newer ? &answer->newer->older : &unsent->newest) = answer->older;
    if (answer->older) answer->older->newer = answer->newer;
    unsent->count--;
    answer->is_listed = false;
}

// --- Who makes room ---

// Without the lock as well. 0 where the system does not tell.
static uint64_t taken_of(int socket) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_acked : 0;
}

static double share_in_a_second(const struct unsent_answer *answer, int64_t age_ms) {
    double taken = (double)(taken_of(answer->socket) - answer->taken_earlier);
    return taken / (double)(answer->body.size + 1) / (double)age_ms;
}

// Those who are sent one body make room together: without one of them it would lie there all the same.
struct readers {
    struct unsent_answer **of_body;
    size_t count;
    double share;      // of whoever takes it fastest
    int64_t begun_ms;  // the first of them
    bool is_young;     // one of them is
};

static int by_body(const void *left, const void *right) {
    const struct unsent_answer *const *a = left, *const *b = right;
    return ((*a)->body.data > (*b)->body.data) - ((*a)->body.data < (*b)->body.data);
}

// The oldest of those who took equally little.
static int by_share(const void *left, const void *right) {
    const struct readers *a = left, *b = right;
    if (a->is_young != b->is_young) return a->is_young - b->is_young;
    if (a->share < b->share || a->share > b->share) return a->share > b->share ? 1 : -1;
    return (a->begun_ms > b->begun_ms) - (a->begun_ms < b->begun_ms);
}

static void take_in(struct readers *readers, struct unsent_answer *one, int64_t now) {
    int64_t age_ms = now - one->begun_ms;
    bool is_young = age_ms < SLOW_AGE_MS;
    double share = is_young ? 0 : share_in_a_second(one, age_ms);
    if (!readers->count || one->begun_ms < readers->begun_ms) readers->begun_ms = one->begun_ms;
    if (share > readers->share) readers->share = share;
    readers->is_young |= is_young;
    readers->count++;
}

// All of them, by their bodies; how many bodies there are.
static size_t group(const struct unsent *unsent, struct unsent_answer **answers, struct readers *groups) {
    size_t count = 0, bodies = 0;
    int64_t now = now_ms();
    for (struct unsent_answer *one = unsent->newest; one; one = one->older) answers[count++] = one;
    qsort(answers, count, sizeof(struct unsent_answer *), by_body);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || answers[i]->body.data != answers[i - 1]->body.data)
            groups[bodies++] = (struct readers){.of_body = &answers[i]};
        take_in(&groups[bodies - 1], answers[i], now);
    }
    return bodies;
}

static void make_room(const struct readers *readers) {
    for (size_t i = 0; i < readers->count; i++) {
        take_out(readers->of_body[i]);
        shutdown(readers->of_body[i]->socket, SHUT_RDWR);
    }
}

static void drop_slowest(struct unsent *unsent, struct unsent_answer **answers, struct readers *groups) {
    size_t bodies = group(unsent, answers, groups);
    qsort(groups, bodies, sizeof *groups, by_share);
    for (size_t i = 0; i + 1 < bodies && !groups[i].is_young && unsent->used_bytes > unsent->max_bytes; i++)
        make_room(&groups[i]);
}

// Without memory to find them nobody makes room now.
static void keep_to_budget(struct unsent *unsent) {
    if (unsent->used_bytes <= unsent->max_bytes) return;
    struct unsent_answer **answers = calloc(unsent->count, sizeof(struct unsent_answer *));
    struct readers *groups = calloc(unsent->count, sizeof *groups);
    if (answers && groups) drop_slowest(unsent, answers, groups);
    free(groups);
    free(answers);
}

// --- An answer (without the lock) ---

void unsent_begin(struct unsent *unsent, struct unsent_answer *answer, int socket, struct bytes body,
                  size_t own_bytes) {
    if (body.size + own_bytes < UNSENT_SMALL_BYTES) return;
    *answer = (struct unsent_answer){.unsent = unsent,
                                     .body = body,
                                     .own_bytes = own_bytes,
                                     .socket = socket,
                                     .taken_earlier = taken_of(socket),
                                     .begun_ms = now_ms()};
    pthread_mutex_lock(&unsent->lock);
    add(unsent, answer);
    keep_to_budget(unsent);
    pthread_mutex_unlock(&unsent->lock);
}

void unsent_end(struct unsent_answer *answer) {
    struct unsent *unsent = answer->unsent;
    if (!unsent) return;
    pthread_mutex_lock(&unsent->lock);
    if (answer->is_listed) take_out(answer);
    pthread_mutex_unlock(&unsent->lock);
}

void unsent_keep_to_budget(struct unsent *unsent) {
    pthread_mutex_lock(&unsent->lock);
    keep_to_budget(unsent);
    pthread_mutex_unlock(&unsent->lock);
}

size_t unsent_bytes(struct unsent *unsent) {
    pthread_mutex_lock(&unsent->lock);
    size_t bytes = unsent->used_bytes;
    pthread_mutex_unlock(&unsent->lock);
    return bytes;
}
