#include "server/http/guesses.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { EACH_MS = GUESS_SECONDS * 1000 };

struct guesser {
    struct client_address address;
    int64_t paid_ms;  // when all its guesses will be forgotten
};

struct guesses {
    pthread_mutex_t lock;
    size_t count;
    struct guesser guessers[GUESSES_ADDRESSES_MAX];
};

struct guesses *guesses_new(void) {
    struct guesses *guesses = calloc(1, sizeof *guesses);
    if (guesses) pthread_mutex_init(&guesses->lock, NULL);
    return guesses;
}

void guesses_free(struct guesses *guesses) {
    if (!guesses) return;
    pthread_mutex_destroy(&guesses->lock);
    free(guesses);
}

// Under the lock.
static struct guesser *guesser_of(struct guesses *guesses, const struct client_address *address) {
    struct guesser *least = guesses->guessers;
    for (size_t i = 0; i < guesses->count; i++) {
        struct guesser *one = &guesses->guessers[i];
        if (memcmp(&one->address, address, sizeof *address) == 0) return one;
        if (one->paid_ms < least->paid_ms) least = one;
    }
    if (guesses->count < GUESSES_ADDRESSES_MAX) least = &guesses->guessers[guesses->count++];
    least->address = *address;
    return least;
}

int64_t guesses_take(struct guesses *guesses, const struct client_address *address, int64_t now_ms) {
    pthread_mutex_lock(&guesses->lock);
    struct guesser *guesser = guesser_of(guesses, address);
    int64_t from_ms = guesser->paid_ms > now_ms ? guesser->paid_ms : now_ms;
    int64_t wait_ms = from_ms + EACH_MS - now_ms - (int64_t)GUESSES_FREE * EACH_MS;
    if (wait_ms <= 0) guesser->paid_ms = from_ms + EACH_MS;
    pthread_mutex_unlock(&guesses->lock);
    return wait_ms <= 0 ? 0 : (wait_ms + 999) / 1000;
}
