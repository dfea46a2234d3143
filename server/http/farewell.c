#include "server/http/farewell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "analysis/base/steady_clock.h"

enum { TICK_MS = 500, PIECE_BYTES = 64 << 10, PIECES_AT_ONCE = 16 };

struct farewell {
    int socket;
    int64_t begun_ms, heard_ms;
    size_t bytes;
};

struct farewells {
    pthread_t thread;
    int wake;  // an event: somebody comes, or it is over
    // The thread's own, the oldest first.
    struct farewell here[FAREWELLS_MAX];
    size_t here_count;
    uint8_t thrown_away[PIECE_BYTES];
    // The lock is held for what follows.
    pthread_mutex_t lock;
    int coming[FAREWELLS_MAX];
    size_t coming_count, count;
    bool is_over;
};

// --- The thread ---

static void let_go(struct farewells *all, size_t index) {
    close(all->here[index].socket);
    all->here_count--;
    memmove(all->here + index, all->here + index + 1, (all->here_count - index) * sizeof *all->here);
}

// False: it is over.
static bool receive(struct farewells *all) {
    pthread_mutex_lock(&all->lock);
    for (size_t i = 0; i < all->coming_count; i++) {
        if (all->here_count == FAREWELLS_MAX) let_go(all, 0);
        int64_t now = steady_ms();
        all->here[all->here_count++] = (struct farewell){.socket = all->coming[i], .begun_ms = now, .heard_ms = now};
    }
    all->coming_count = 0;
    all->count = all->here_count;
    bool is_over = all->is_over;
    pthread_mutex_unlock(&all->lock);
    return !is_over;
}

static void wait_for_bytes(const struct farewells *all) {
    struct pollfd asked[1 + FAREWELLS_MAX] = {{.fd = all->wake, .events = POLLIN}};
    for (size_t i = 0; i < all->here_count; i++)
        asked[1 + i] = (struct pollfd){.fd = all->here[i].socket, .events = POLLIN};
    poll(asked, 1 + all->here_count, all->here_count ? TICK_MS : -1);
    uint64_t woken;
    if (asked[0].revents) (void)!read(all->wake, &woken, sizeof woken);
}

// What has come, as far as it is this one's turn. False: there will be no more.
static bool throw_away(struct farewell *one, void *to) {
    for (size_t i = 0; i < PIECES_AT_ONCE && one->bytes < FAREWELL_MOST_BYTES; i++) {
        ssize_t got = recv(one->socket, to, PIECE_BYTES, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
        if (got <= 0) return false;
        one->bytes += (size_t)got;
        one->heard_ms = steady_ms();
    }
    return one->bytes < FAREWELL_MOST_BYTES;
}

static bool is_late(const struct farewell *one, int64_t now_ms) {
    return now_ms - one->heard_ms >= FAREWELL_SILENCE_MS || now_ms - one->begun_ms >= FAREWELL_MOST_MS;
}

static void *run(void *context) {
    struct farewells *all = context;
    while (receive(all)) {
        wait_for_bytes(all);
        int64_t now_ms = steady_ms();
        for (size_t i = all->here_count; i-- > 0;) {
            bool stays = throw_away(&all->here[i], all->thrown_away) && !is_late(&all->here[i], now_ms);
            if (!stays) let_go(all, i);
        }
    }
    while (all->here_count) let_go(all, 0);
    return NULL;
}

// --- Beginning and end ---

struct farewells *farewells_new(void) {
    struct farewells *all = calloc(1, sizeof *all);
    if (!all) return NULL;
    all->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&all->lock, NULL);
    if (all->wake >= 0 && pthread_create(&all->thread, NULL, run, all) == 0) return all;
    if (all->wake >= 0) close(all->wake);
    free(all);
    return NULL;
}

static void wake_up(const struct farewells *all) {
    const uint64_t one = 1;
    (void)!write(all->wake, &one, sizeof one);
}

void farewells_free(struct farewells *all) {
    if (!all) return;
    pthread_mutex_lock(&all->lock);
    all->is_over = true;
    pthread_mutex_unlock(&all->lock);
    wake_up(all);
    pthread_join(all->thread, NULL);
    pthread_mutex_destroy(&all->lock);
    close(all->wake);
    free(all);
}

// --- Those who stay ---

// The lock is held.
static void let_first_go(struct farewells *all) {
    close(all->coming[0]);
    all->coming_count--;
    all->count--;
    memmove(all->coming, all->coming + 1, all->coming_count * sizeof *all->coming);
}

void farewells_take(struct farewells *all, int socket) {
    int own = fcntl(socket, F_DUPFD_CLOEXEC, 0);
    if (own < 0) return;
    shutdown(own, SHUT_WR);
    pthread_mutex_lock(&all->lock);
    if (all->coming_count == FAREWELLS_MAX) let_first_go(all);
    all->coming[all->coming_count++] = own;
    all->count++;
    pthread_mutex_unlock(&all->lock);
    wake_up(all);
}

size_t farewells_count(struct farewells *all) {
    pthread_mutex_lock(&all->lock);
    size_t count = all->count;
    pthread_mutex_unlock(&all->lock);
    return count;
}
