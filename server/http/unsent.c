#include "server/http/unsent.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "analysis/base/steady_clock.h"
#include "server/http/unsent_readers.h"

struct unsent {
    pthread_mutex_t lock;
    size_t max_bytes, used_bytes, count;
    struct unsent_answer *newest;
};

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

// --- Making room ---

// Without the lock as well. 0 where the system does not tell.
static uint64_t taken_of(int socket) {
    struct tcp_info info = {0};
    socklen_t size = sizeof info;
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 ? info.tcpi_bytes_acked : 0;
}

static void make_room(const struct unsent_readers *readers) {
    for (size_t i = 0; i < readers->count; i++) {
        take_out(readers->of_body[i]);
        shutdown(readers->of_body[i]->socket, SHUT_RDWR);
    }
}

static size_t gather(const struct unsent *unsent, struct unsent_answer **answers) {
    size_t count = 0;
    for (struct unsent_answer *one = unsent->newest; one; one = one->older) {
        one->taken = taken_of(one->socket) - one->taken_earlier;
        answers[count++] = one;
    }
    return count;
}

static void drop_slowest(struct unsent *unsent, struct unsent_answer **answers, struct unsent_readers *readers) {
    size_t count = unsent_who_makes_room(answers, gather(unsent, answers), unsent->max_bytes, steady_ms(), readers);
    for (size_t i = 0; i < count && unsent->used_bytes > unsent->max_bytes; i++) make_room(&readers[i]);
}

// Without memory to find them nobody makes room now.
static void keep_to_budget(struct unsent *unsent) {
    if (unsent->used_bytes <= unsent->max_bytes) return;
    struct unsent_answer **answers = calloc(unsent->count, sizeof(struct unsent_answer *));
    struct unsent_readers *readers = calloc(unsent->count, sizeof *readers);
    if (answers && readers) drop_slowest(unsent, answers, readers);
    free(readers);
    free(answers);
}

// --- An answer (without the lock) ---

void unsent_begin(struct unsent *unsent, struct unsent_answer *answer, int socket, const struct client_address *client,
                  struct bytes body, size_t own_bytes) {
    if (body.size + own_bytes < UNSENT_SMALL_BYTES) return;
    *answer = (struct unsent_answer){.unsent = unsent,
                                     .body = body,
                                     .own_bytes = own_bytes,
                                     .socket = socket,
                                     .client = *client,
                                     .taken_earlier = taken_of(socket),
                                     .begun_ms = steady_ms()};
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
