#define _GNU_SOURCE  // accept4
#include "server/http/door.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/steady_wait.h"

enum { PAUSE_MS = 20 };  // when there are no descriptors, or there is no memory

struct door {
    int listening_socket;
    size_t most;
    door_let_in *let_in;
    void *context;
    pthread_t thread;
    // The lock is held for what follows.
    pthread_mutex_t lock;
    pthread_cond_t changed;  // somebody left, or it is over
    size_t inside;
    bool is_over;
    bool is_inside[DOOR_SOCKETS_MAX];
};

// --- Who is inside (the lock is held) ---

static void note_left(struct door *door, int socket) {
    if (!door->is_inside[socket]) return;
    door->is_inside[socket] = false;
    door->inside--;
    pthread_cond_signal(&door->changed);
}

static void note_came(struct door *door, int socket) {
    note_left(door, socket);  // its number would not come again if it were not closed
    door->is_inside[socket] = true;
    door->inside++;
}

void door_left(struct door *door, int socket) {
    if (socket < 0 || socket >= DOOR_SOCKETS_MAX) return;
    pthread_mutex_lock(&door->lock);
    note_left(door, socket);
    pthread_mutex_unlock(&door->lock);
}

// --- The thread ---

static bool wait_for_room(struct door *door) {
    pthread_mutex_lock(&door->lock);
    while (!door->is_over && door->inside >= door->most) pthread_cond_wait(&door->changed, &door->lock);
    bool is_over = door->is_over;
    pthread_mutex_unlock(&door->lock);
    return !is_over;
}

static void pause_a_moment(struct door *door) {
    pthread_mutex_lock(&door->lock);
    if (!door->is_over) (void)steady_wait(&door->changed, &door->lock, PAUSE_MS);
    pthread_mutex_unlock(&door->lock);
}

static void receive(struct door *door, int socket, const struct sockaddr *peer, socklen_t peer_size) {
    if (socket >= DOOR_SOCKETS_MAX) {
        close(socket);
        return;
    }
    pthread_mutex_lock(&door->lock);
    note_came(door, socket);
    pthread_mutex_unlock(&door->lock);
    if (!door->let_in(door->context, socket, peer, peer_size)) door_left(door, socket);
}

static void *run(void *of) {
    struct door *door = of;
    while (wait_for_room(door)) {
        struct sockaddr_storage peer = {0};
        socklen_t size = sizeof peer;
        int socket = accept4(door->listening_socket, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket >= 0)
            receive(door, socket, (struct sockaddr *)&peer, size);
        else if (errno != ECONNABORTED && errno != EINTR)
            pause_a_moment(door);
    }
    return NULL;
}

// --- Beginning and end ---

struct door *door_new(size_t most, door_let_in *let_in, void *context) {
    struct door *door = calloc(1, sizeof *door);
    if (!door) return NULL;
    door->most = most;
    door->let_in = let_in;
    door->context = context;
    pthread_mutex_init(&door->lock, NULL);
    steady_condition_init(&door->changed);
    return door;
}

bool door_open(struct door *door, int listening_socket) {
    door->listening_socket = listening_socket;
    return pthread_create(&door->thread, NULL, run, door) == 0;
}

void door_close(struct door *door) {
    pthread_mutex_lock(&door->lock);
    door->is_over = true;
    pthread_cond_signal(&door->changed);
    pthread_mutex_unlock(&door->lock);
    shutdown(door->listening_socket, SHUT_RDWR);  // which ends an accept that waits
    pthread_join(door->thread, NULL);
    close(door->listening_socket);
}

void door_free(struct door *door) {
    if (!door) return;
    pthread_cond_destroy(&door->changed);
    pthread_mutex_destroy(&door->lock);
    free(door);
}
