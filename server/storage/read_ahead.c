#include "server/storage/read_ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "server/steady_wait.h"

enum { STOPPED_WITHIN_MS = 100 };
enum { PIECE_BLOCKS = READ_AHEAD_PIECE_BYTES / BLOCK_CACHE_BLOCK_BYTES };

struct piece {
    struct opened_object *object;  // with a user of its own
    uint64_t first, count;
    bool is_begun;
};

// Pieces that have begun and pieces that wait, in the order in which they were asked for.
struct read_ahead {
    struct block_store *blocks;
    struct reading reading;  // of all threads: stopped at the end
    pthread_mutex_t lock;    // of all below
    pthread_cond_t came, went;
    struct piece pieces[READ_AHEAD_QUEUED_MAX];
    size_t piece_count, waiting_count;
    pthread_t threads[READ_AHEAD_THREADS];
    size_t thread_count, idle_count;
    bool is_closing;
};

struct read_ahead *read_ahead_new(struct block_store *blocks) {
    struct read_ahead *ahead = calloc(1, sizeof *ahead);
    if (!ahead) return NULL;
    ahead->blocks = blocks;
    reading_init(&ahead->reading);
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->came, NULL);
    steady_condition_init(&ahead->went);
    return ahead;
}

// --- With the lock ---

static bool is_of(const struct piece *piece, const struct opened_object *object) {
    return file_version_equal(&piece->object->object.version, &object->object.version);
}

static bool has(const struct read_ahead *ahead, const struct opened_object *object, uint64_t block) {
    for (size_t i = 0; i < ahead->piece_count; i++) {
        const struct piece *piece = &ahead->pieces[i];
        if (block >= piece->first && block - piece->first < piece->count && is_of(piece, object)) return true;
    }
    return false;
}

static struct opened_object *take_out(struct read_ahead *ahead, size_t i) {
    struct opened_object *object = ahead->pieces[i].object;
    if (!ahead->pieces[i].is_begun) ahead->waiting_count--;
    for (ahead->piece_count--; i < ahead->piece_count; i++) ahead->pieces[i] = ahead->pieces[i + 1];
    return object;
}

static struct piece *next_piece(struct read_ahead *ahead) {
    for (size_t i = 0; i < ahead->piece_count; i++) {
        if (!ahead->pieces[i].is_begun) return &ahead->pieces[i];
    }
    return NULL;
}

static void end_piece(struct read_ahead *ahead, const struct piece *ended) {
    for (size_t i = 0; i < ahead->piece_count; i++) {
        const struct piece *piece = &ahead->pieces[i];
        if (!piece->is_begun || piece->object != ended->object || piece->first != ended->first) continue;
        opened_object_release(take_out(ahead, i));
        return;
    }
}

// --- The threads ---

static void *work(void *context) {
    struct read_ahead *ahead = context;
    pthread_mutex_lock(&ahead->lock);
    while (!ahead->is_closing) {
        struct piece *next = next_piece(ahead);
        if (!next) {
            ahead->idle_count++;
            pthread_cond_wait(&ahead->came, &ahead->lock);
            ahead->idle_count--;
            continue;
        }
        next->is_begun = true;
        ahead->waiting_count--;
        struct piece piece = *next;
        struct error ignored;
        pthread_mutex_unlock(&ahead->lock);
        (void)!block_store_fill(ahead->blocks, &piece.object->object, piece.first, piece.count, &ahead->reading,
                                &ignored);
        pthread_mutex_lock(&ahead->lock);
        end_piece(ahead, &piece);
        pthread_cond_broadcast(&ahead->went);
    }
    pthread_mutex_unlock(&ahead->lock);
    return NULL;
}

// As many threads as there are pieces; with the lock.
static void wake_threads(struct read_ahead *ahead) {
    size_t missing = ahead->waiting_count > ahead->idle_count ? ahead->waiting_count - ahead->idle_count : 0;
    while (missing-- && ahead->thread_count < READ_AHEAD_THREADS) {
        if (pthread_create(&ahead->threads[ahead->thread_count], NULL, work, ahead) != 0) break;
        ahead->thread_count++;
    }
    pthread_cond_broadcast(&ahead->came);
}

void read_ahead_free(struct read_ahead *ahead) {
    if (!ahead) return;
    reading_stop(&ahead->reading);
    pthread_mutex_lock(&ahead->lock);
    ahead->is_closing = true;
    pthread_cond_broadcast(&ahead->came);
    pthread_mutex_unlock(&ahead->lock);
    for (size_t i = 0; i < ahead->thread_count; i++) pthread_join(ahead->threads[i], NULL);
    for (size_t i = 0; i < ahead->piece_count; i++) opened_object_release(ahead->pieces[i].object);
    pthread_cond_destroy(&ahead->came);
    pthread_cond_destroy(&ahead->went);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead);
}

// --- Asking ---

static bool is_needed(struct read_ahead *ahead, const struct opened_object *object, uint64_t block) {
    return !has(ahead, object, block) && !block_cache_has(ahead->blocks->cache, &object->object.version, block);
}

// A piece of what is needed from `block` on; returns where it ends.
static uint64_t add_piece(struct read_ahead *ahead, struct opened_object *object, uint64_t block, uint64_t end) {
    uint64_t first = block;
    while (block < end && block - first < PIECE_BLOCKS && is_needed(ahead, object, block)) block++;
    ahead->pieces[ahead->piece_count++] = (struct piece){opened_object_share(object), first, block - first, false};
    ahead->waiting_count++;
    return block;
}

void read_ahead_ask(struct read_ahead *ahead, struct opened_object *object, uint64_t first, uint64_t count) {
    uint64_t all = blocks_of(object->object.size_bytes), end = count < all - first ? first + count : all;
    pthread_mutex_lock(&ahead->lock);
    for (uint64_t block = first; block < end && ahead->piece_count < READ_AHEAD_QUEUED_MAX;)
        block = is_needed(ahead, object, block) ? add_piece(ahead, object, block, end) : block + 1;
    wake_threads(ahead);
    pthread_mutex_unlock(&ahead->lock);
}

bool read_ahead_has(struct read_ahead *ahead, const struct opened_object *object, uint64_t block) {
    pthread_mutex_lock(&ahead->lock);
    bool is_there = has(ahead, object, block);
    pthread_mutex_unlock(&ahead->lock);
    return is_there;
}

bool read_ahead_wait(struct read_ahead *ahead, const struct opened_object *object, uint64_t block,
                     struct reading *reading) {
    bool has_waited = false;
    pthread_mutex_lock(&ahead->lock);
    for (; has(ahead, object, block) && ahead->thread_count && !reading_is_stopped(reading); has_waited = true)
        (void)steady_wait(&ahead->went, &ahead->lock, STOPPED_WITHIN_MS);
    pthread_mutex_unlock(&ahead->lock);
    return has_waited;
}

void read_ahead_drop(struct read_ahead *ahead, const struct opened_object *object) {
    pthread_mutex_lock(&ahead->lock);
    for (size_t i = ahead->piece_count; i-- > 0;) {
        if (ahead->pieces[i].object == object && !ahead->pieces[i].is_begun) opened_object_release(take_out(ahead, i));
    }
    pthread_cond_broadcast(&ahead->went);
    pthread_mutex_unlock(&ahead->lock);
}
