#include "server/storage/object_listings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/base/growing_array.h"

enum { TREES_KEPT = 256, TREE_BYTES_MAX = 1 << 30 };

struct listed_tree {
    atomic_uint users;
    struct arena arena;
    struct object_tree tree;
    int64_t listed_ms;
};

struct object_listings {
    const struct object_bucket *bucket;
    pthread_mutex_t lock;       // of `trees`
    pthread_mutex_t list_lock;  // held while listing
    struct listed_tree *trees[TREES_KEPT];
    size_t tree_count, next_place;
};

struct object_listings *object_listings_new(const struct object_bucket *bucket) {
    struct object_listings *listings = calloc(1, sizeof *listings);
    if (!listings) return NULL;
    listings->bucket = bucket;
    pthread_mutex_init(&listings->lock, NULL);
    pthread_mutex_init(&listings->list_lock, NULL);
    return listings;
}

void listed_tree_release(struct listed_tree *listed) {
    if (!listed || atomic_fetch_sub(&listed->users, 1) != 1) return;
    arena_free(&listed->arena);
    free(listed);
}

void object_listings_free(struct object_listings *listings) {
    if (!listings) return;
    for (size_t i = 0; i < listings->tree_count; i++) listed_tree_release(listings->trees[i]);
    pthread_mutex_destroy(&listings->list_lock);
    pthread_mutex_destroy(&listings->lock);
    free(listings);
}

const struct object_tree *listed_tree_of(const struct listed_tree *listed) {
    return &listed->tree;
}

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

// --- What is kept ---

// The newest tree that has all names that begin with `prefix`, not listed before `since_ms`; with one more user.
static struct listed_tree *take_kept(struct object_listings *listings, const char *prefix, int64_t since_ms) {
    struct listed_tree *best = NULL;
    pthread_mutex_lock(&listings->lock);
    for (size_t i = 0; i < listings->tree_count; i++) {
        struct listed_tree *listed = listings->trees[i];
        bool covers = bytes_starts_with(bytes_of(prefix), bytes_of(listed->tree.prefix));
        if (covers && listed->listed_ms >= since_ms && (!best || listed->listed_ms > best->listed_ms)) best = listed;
    }
    if (best) atomic_fetch_add(&best->users, 1);
    pthread_mutex_unlock(&listings->lock);
    return best;
}

// Where a tree of the same prefix is, else the place that was filled longest ago.
static size_t place_for(struct object_listings *listings, const char *prefix) {
    for (size_t i = 0; i < listings->tree_count; i++) {
        if (strcmp(listings->trees[i]->tree.prefix, prefix) == 0) return i;
    }
    if (listings->tree_count < TREES_KEPT) return listings->tree_count;
    listings->next_place = (listings->next_place + 1) % TREES_KEPT;
    return listings->next_place;
}

static void keep(struct object_listings *listings, struct listed_tree *listed) {
    atomic_fetch_add(&listed->users, 1);
    pthread_mutex_lock(&listings->lock);
    size_t place = place_for(listings, listed->tree.prefix);
    struct listed_tree *old = place < listings->tree_count ? listings->trees[place] : NULL;
    listings->trees[place] = listed;
    if (place == listings->tree_count) listings->tree_count++;
    pthread_mutex_unlock(&listings->lock);
    listed_tree_release(old);
}

// --- Listing ---

static bool too_many(const struct object_listings *listings, const char *prefix, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, listings->bucket->url, ERROR_WHOLE_FILE,
                    "more than %d objects are below \"%.200s\"; open a folder further down", LISTING_OBJECTS_MAX,
                    prefix);
}

static bool add_page(struct listed_tree *listed, const struct object_page *page) {
    listed->tree.odd_names += page->odd_names;
    for (size_t i = 0; i < page->object_count; i++) {
        if (!growing_array_add(&listed->arena, listed->tree.objects, listed->tree.object_count, page->objects[i]))
            return false;
    }
    return true;
}

// A server may answer with the same page for ever: pages without objects are no progress.
static bool list_pages(const struct object_listings *listings, const char *prefix, struct listed_tree *listed,
                       struct error *error) {
    const char *next = NULL;
    unsigned empty_pages = 0;
    do {
        struct object_page page;
        if (!object_list(listings->bucket, prefix, next, &listed->arena, &page, error)) return false;
        empty_pages = page.object_count ? 0 : empty_pages + 1;
        if (!add_page(listed, &page) || listed->tree.object_count > LISTING_OBJECTS_MAX || empty_pages > 64)
            return too_many(listings, prefix, error);
        next = page.next;
    } while (next);
    return true;
}

static struct listed_tree *list(const struct object_listings *listings, const char *prefix, struct error *error) {
    struct listed_tree *listed = calloc(1, sizeof *listed);
    if (!listed) {
        (void)too_many(listings, prefix, error);
        return NULL;
    }
    atomic_init(&listed->users, 1);
    arena_init(&listed->arena, TREE_BYTES_MAX);
    listed->listed_ms = now_ms();
    listed->tree.prefix = arena_string(&listed->arena, bytes_of(prefix));
    if (listed->tree.prefix && list_pages(listings, prefix, listed, error)) {
        object_tree_sort(&listed->tree);
        return listed;
    }
    if (!listed->tree.prefix) (void)too_many(listings, prefix, error);
    listed_tree_release(listed);
    return NULL;
}

// A tree of all names that begin with `prefix`.
static struct listed_tree *of_prefix(struct object_listings *listings, const char *prefix, struct error *error) {
    int64_t since_ms = now_ms() - LISTINGS_HOLD_MS;
    struct listed_tree *listed = take_kept(listings, prefix, since_ms);
    if (listed) return listed;
    pthread_mutex_lock(&listings->list_lock);
    listed = take_kept(listings, prefix, since_ms);
    if (!listed) {
        listed = list(listings, prefix, error);
        if (listed) keep(listings, listed);
    }
    pthread_mutex_unlock(&listings->list_lock);
    return listed;
}

static bool is_empty(const struct listed_tree *listed) {
    return listed->tree.object_count == 0;
}

struct listed_tree *object_listings_of_folder(struct object_listings *listings, const char *name, struct error *error) {
    struct arena scratch;
    arena_init(&scratch, 0);
    const char *prefix = *name ? arena_printf(&scratch, "%s/", name) : "";
    struct listed_tree *listed = prefix ? of_prefix(listings, prefix, error) : NULL;
    if (!prefix) (void)too_many(listings, name, error);
    arena_free(&scratch);
    return listed;
}

// The folder that a name which was seen as an object lies in: what is beside it will be asked for, too.
static const char *folder_of_known_object(struct object_listings *listings, const char *name, struct arena *arena) {
    struct listed_tree *old = take_kept(listings, name, INT64_MIN);
    const char *slash = strrchr(name, '/');
    bool is_known = old && slash && object_tree_find(&old->tree, name);
    listed_tree_release(old);
    return is_known ? arena_string(arena, (struct bytes){(const uint8_t *)name, (size_t)(slash - name)}) : NULL;
}

struct listed_tree *object_listings_of_name(struct object_listings *listings, const char *name, struct error *error) {
    struct listed_tree *listed = take_kept(listings, name, now_ms() - LISTINGS_HOLD_MS);
    struct arena scratch;
    if (listed) return listed;
    arena_init(&scratch, 0);
    const char *folder = folder_of_known_object(listings, name, &scratch);
    listed = object_listings_of_folder(listings, folder ? folder : name, error);
    arena_free(&scratch);
    if (!listed || folder || !is_empty(listed)) return listed;
    listed_tree_release(listed);
    return of_prefix(listings, name, error);
}
