#include "server/storage/object_listings.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/base/refused_memory.h"
#include "analysis/base/steady_clock.h"
#include "server/steady_wait.h"
#include "server/storage/prefix_list.h"

enum { TREES_KEPT = 256, TREE_BYTES_MAX = 1 << 30, PATIENCE_MS = 100, VAST_HOLDS_MS = 600 * 1000 };

struct listed_tree {
    atomic_uint users;
    struct arena arena;
    struct object_tree tree;
    int64_t listed_ms;
};

// A list that is being made: on the stack of the thread that makes it.
struct under_way {
    const char *prefix;
    struct under_way *next;
};

struct object_listings {
    const struct object_bucket *bucket;
    pthread_mutex_t lock;
    pthread_cond_t listed;
    struct under_way *under_way;
    struct listed_tree *trees[TREES_KEPT];
    size_t tree_count, next_place;
};

struct object_listings *object_listings_new(const struct object_bucket *bucket) {
    struct object_listings *listings = calloc(1, sizeof *listings);
    if (!listings) return NULL;
    listings->bucket = bucket;
    pthread_mutex_init(&listings->lock, NULL);
    steady_condition_init(&listings->listed);
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
    pthread_cond_destroy(&listings->listed);
    pthread_mutex_destroy(&listings->lock);
    free(listings);
}

const struct object_tree *listed_tree_of(const struct listed_tree *listed) {
    return &listed->tree;
}

// --- What is kept ---

// The newest tree that knows all that begins with `prefix`, not listed before `since_ms`; with one more user. The lock
// is held.
static struct listed_tree *find_kept(struct object_listings *listings, const char *prefix, int64_t since_ms) {
    struct listed_tree *best = NULL;
    for (size_t i = 0; i < listings->tree_count; i++) {
        struct listed_tree *listed = listings->trees[i];
        bool covers = object_tree_covers(&listed->tree, prefix);
        if (covers && listed->listed_ms >= since_ms && (!best || listed->listed_ms > best->listed_ms)) best = listed;
    }
    if (best) atomic_fetch_add(&best->users, 1);
    return best;
}

static struct listed_tree *take_kept(struct object_listings *listings, const char *prefix, int64_t since_ms) {
    pthread_mutex_lock(&listings->lock);
    struct listed_tree *kept = find_kept(listings, prefix, since_ms);
    pthread_mutex_unlock(&listings->lock);
    return kept;
}

// Whatever was last listed of just that prefix.
static struct listed_tree *take_same(struct object_listings *listings, const char *prefix) {
    struct listed_tree *same = NULL;
    pthread_mutex_lock(&listings->lock);
    for (size_t i = 0; i < listings->tree_count && !same; i++) {
        if (strcmp(listings->trees[i]->tree.prefix, prefix) == 0) same = listings->trees[i];
    }
    if (same) atomic_fetch_add(&same->users, 1);
    pthread_mutex_unlock(&listings->lock);
    return same;
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

static bool no_memory(const struct object_listings *listings, struct error *error) {
    return error_in(error, ERROR_TOO_BIG, listings->bucket->url, ERROR_WHOLE_FILE, "no memory left to list it");
}

// Nothing is kept of what is not told.
static void forget_pages(struct listed_tree *listed, const char *prefix) {
    arena_free(&listed->arena);
    arena_init(&listed->arena, TREE_BYTES_MAX);
    listed->tree.prefix = arena_string(&listed->arena, bytes_of(prefix));
}

static bool list_into(const struct object_listings *listings, const struct prefix_wish *wish,
                      const struct listed_tree *before, struct listed_tree *listed, struct reading *reading,
                      struct error *error) {
    struct arena *arena = &listed->arena;
    const char *url = arena_printf(arena, "%s/%s", listings->bucket->url, wish->prefix);
    struct prefix_wish mine = {arena_string(arena, bytes_of(wish->prefix)), wish->is_aside};
    if (!url || !mine.prefix) return no_memory(listings, error);
    reading_begin(reading, url);
    if (!prefix_list(listings->bucket, &mine, before ? &before->tree : NULL, reading, arena, &listed->tree, error))
        return false;
    if (listed->tree.extent == TREE_VAST) forget_pages(listed, wish->prefix);
    return listed->tree.prefix || no_memory(listings, error);
}

static struct listed_tree *list(struct object_listings *listings, const struct prefix_wish *wish,
                                struct reading *reading, struct error *error) {
    struct listed_tree *listed = calloc(1, sizeof *listed);
    if (!listed) {
        (void)no_memory(listings, error);
        return NULL;
    }
    atomic_init(&listed->users, 1);
    arena_init(&listed->arena, TREE_BYTES_MAX);
    struct listed_tree *before = take_same(listings, wish->prefix);
    uint64_t refusals = memory_refusals();
    bool is_good = list_into(listings, wish, before, listed, reading, error) && !memory_was_refused(refusals, error);
    listed_tree_release(before);
    listed->listed_ms = steady_ms();  // a list that takes long holds as long as a short one
    if (is_good) return listed;
    listed_tree_release(listed);
    return NULL;
}

// --- Who lists ---

static bool is_under_way(const struct object_listings *listings, const char *prefix) {
    const struct under_way *one = listings->under_way;
    while (one && strcmp(one->prefix, prefix) != 0) one = one->next;
    return one;
}

static void end_way(struct object_listings *listings, const struct under_way *mine) {
    pthread_mutex_lock(&listings->lock);
    struct under_way **place = &listings->under_way;
    while (*place != mine) place = &(*place)->next;
    *place = mine->next;
    pthread_cond_broadcast(&listings->listed);
    pthread_mutex_unlock(&listings->lock);
}

// Until some list has ended, or a moment has passed: who follows may have stopped it.
static void wait_a_moment(struct object_listings *listings) {
    (void)steady_wait(&listings->listed, &listings->lock, PATIENCE_MS);
}

// A kept tree, or NULL: then `mine` is under way, and the caller lists, or *error is filled.
static struct listed_tree *take_or_begin(struct object_listings *listings, const char *prefix, struct under_way *mine,
                                         const struct reading *reading, struct error *error) {
    int64_t since_ms = steady_ms() - LISTINGS_HOLD_MS;
    struct listed_tree *listed;
    bool goes_on = true;
    pthread_mutex_lock(&listings->lock);
    while (!(listed = find_kept(listings, prefix, since_ms)) && is_under_way(listings, prefix) &&
           (goes_on = reading_goes_on(reading, listings->bucket->url, error)))
        wait_a_moment(listings);
    if (!listed && goes_on) {
        *mine = (struct under_way){prefix, listings->under_way};
        listings->under_way = mine;
    }
    pthread_mutex_unlock(&listings->lock);
    return listed;
}

// A folder that was found vast a while ago is so still.
static struct listed_tree *take_vast(struct object_listings *listings, const char *prefix) {
    struct listed_tree *same = take_same(listings, prefix);
    if (same && same->tree.extent == TREE_VAST && same->listed_ms >= steady_ms() - VAST_HOLDS_MS) return same;
    listed_tree_release(same);
    return NULL;
}

// A tree that knows all names that begin with the prefix; if they lie aside, it may be vast.
static struct listed_tree *of_prefix(struct object_listings *listings, struct prefix_wish wish, struct reading *reading,
                                     struct error *error) {
    struct under_way mine = {0};
    if (listings->bucket->service->list) wish.prefix = "";  // one answer has all names
    struct listed_tree *listed = wish.is_aside ? take_vast(listings, wish.prefix) : NULL;
    if (!listed) listed = take_or_begin(listings, wish.prefix, &mine, reading, error);
    if (listed || !mine.prefix) return listed;
    listed = list(listings, &wish, reading, error);
    if (listed) keep(listings, listed);
    end_way(listings, &mine);
    return listed;
}

static bool is_empty(const struct listed_tree *listed) {
    return listed->tree.object_count == 0;
}

static struct listed_tree *refuse_vast(const struct object_listings *listings, const char *name,
                                       struct listed_tree *listed, struct error *error) {
    char url[ERROR_FILE_BYTES];
    snprintf(url, sizeof url, "%s/%s", listings->bucket->url, name);
    (void)error_in(error, ERROR_TOO_BIG, url, ERROR_WHOLE_FILE,
                   "more than %d objects lie below it, beside plugins/profile: not looked into; to do so, open that "
                   "folder itself",
                   LISTING_VAST);
    listed_tree_release(listed);
    return NULL;
}

struct listed_tree *object_listings_of_folder(struct object_listings *listings, const char *name, bool is_aside,
                                              struct reading *reading, struct error *error) {
    struct arena scratch;
    arena_init(&scratch, 0);
    const char *prefix = *name ? arena_printf(&scratch, "%s/", name) : "";
    struct prefix_wish wish = {prefix, is_aside};
    struct listed_tree *listed = prefix ? of_prefix(listings, wish, reading, error) : NULL;
    if (!prefix) (void)no_memory(listings, error);
    arena_free(&scratch);
    return listed && listed->tree.extent == TREE_VAST ? refuse_vast(listings, name, listed, error) : listed;
}

// The folder that a name which was seen as an object lies in: what is beside it will be asked for, too.
static const char *folder_of_known_object(struct object_listings *listings, const char *name, struct arena *arena) {
    struct listed_tree *old = take_kept(listings, name, INT64_MIN);
    const char *slash = strrchr(name, '/');
    bool is_known = old && slash && object_tree_find(&old->tree, name);
    listed_tree_release(old);
    return is_known ? arena_string(arena, (struct bytes){(const uint8_t *)name, (size_t)(slash - name)}) : NULL;
}

struct listed_tree *object_listings_of_name(struct object_listings *listings, const char *name, struct reading *reading,
                                            struct error *error) {
    struct listed_tree *listed = take_kept(listings, name, steady_ms() - LISTINGS_HOLD_MS);
    struct arena scratch;
    if (listed) return listed;
    arena_init(&scratch, 0);
    const char *folder = folder_of_known_object(listings, name, &scratch);
    listed = object_listings_of_folder(listings, folder ? folder : name, false, reading, error);
    arena_free(&scratch);
    if (!listed || folder || !is_empty(listed)) return listed;
    listed_tree_release(listed);
    return of_prefix(listings, (struct prefix_wish){name, false}, reading, error);
}
