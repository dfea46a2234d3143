#include "server/storage/identity.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { SECONDS_BEFORE_THE_END = 300, KEYS_BYTES_MAX = 1 << 20, DOUBT_SECONDS = 60 };

struct identity {
    struct http_client *client;
    identity_fetch *fetch;
    void *state;
    pthread_mutex_t lock;  // of all below
    struct arena arena;
    struct identity_keys keys;
    bool has_keys, is_doubted;
    int64_t until_s;
    int64_t trusted_until_s;  // no doubt before
};

struct identity *identity_new(struct http_client *client, identity_fetch *fetch, void *state) {
    struct identity *identity = calloc(1, sizeof *identity);
    if (!identity) {
        free(state);
        return NULL;
    }
    identity->client = client;
    identity->fetch = fetch;
    identity->state = state;
    arena_init(&identity->arena, KEYS_BYTES_MAX);
    pthread_mutex_init(&identity->lock, NULL);
    return identity;
}

void identity_free(struct identity *identity) {
    if (!identity) return;
    arena_free(&identity->arena);
    pthread_mutex_destroy(&identity->lock);
    free(identity->state);
    free(identity);
}

struct http_client *identity_client(const struct identity *identity) {
    return identity->client;
}

const void *identity_state(const struct identity *identity) {
    return identity->state;
}

static bool holds(const struct identity *identity) {
    int64_t now_s = (int64_t)time(NULL);
    return identity->has_keys && !identity->is_doubted &&
           (identity->until_s == 0 || now_s < identity->until_s - SECONDS_BEFORE_THE_END);
}

static bool is_same(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool are_same(const struct identity_keys *a, const struct identity_keys *b) {
    return is_same(a->access_key, b->access_key) && is_same(a->secret, b->secret) &&
           is_same(a->session_token, b->session_token) && is_same(a->bearer, b->bearer);
}

void identity_doubt(struct identity *identity) {
    if (!identity) return;
    pthread_mutex_lock(&identity->lock);
    identity->is_doubted = (int64_t)time(NULL) >= identity->trusted_until_s;
    pthread_mutex_unlock(&identity->lock);
}

// New keys take the place of the old ones; keys that cannot be had leave the old ones, which may still hold.
static bool fetch(struct identity *identity, struct error *error) {
    struct arena arena;
    struct identity_keys keys = {.who = "nobody"};
    int64_t until_s = 0;
    bool was_doubted = identity->is_doubted;
    arena_init(&arena, KEYS_BYTES_MAX);
    bool is_good = identity->fetch(identity, &arena, &keys, &until_s, error);
    int64_t now_s = (int64_t)time(NULL);
    identity->is_doubted = false;
    if (was_doubted && (!is_good || are_same(&keys, &identity->keys)))
        identity->trusted_until_s = now_s + DOUBT_SECONDS;
    if (!is_good) {
        arena_free(&arena);
        return identity->has_keys && (identity->until_s == 0 || now_s < identity->until_s);
    }
    arena_free(&identity->arena);
    identity->arena = arena;
    identity->keys = keys;
    identity->until_s = until_s;
    identity->has_keys = true;
    return true;
}

static bool copy(const char *text, struct arena *arena, const char **to) {
    *to = text ? arena_string(arena, bytes_of(text)) : NULL;
    return !text || *to;
}

static bool copy_keys(const struct identity_keys *keys, struct arena *arena, struct identity_keys *to) {
    return copy(keys->access_key, arena, &to->access_key) && copy(keys->secret, arena, &to->secret) &&
           copy(keys->session_token, arena, &to->session_token) && copy(keys->bearer, arena, &to->bearer) &&
           copy(keys->who, arena, &to->who);
}

bool identity_keys(struct identity *identity, struct arena *arena, struct identity_keys *keys, struct error *error) {
    pthread_mutex_lock(&identity->lock);
    bool is_good = holds(identity) || fetch(identity, error);
    if (is_good && !copy_keys(&identity->keys, arena, keys))
        is_good = error_set(error, ERROR_TOO_BIG, "no memory left for the credentials");
    pthread_mutex_unlock(&identity->lock);
    return is_good;
}
