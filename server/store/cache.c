#include "server/store/cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/id_map.h"
#include "analysis/base/refused_memory.h"
#include "analysis/base/steady_clock.h"

enum {
    BUCKET_COUNT = 4096,         // a power of two
    ALLOCATION_HEAD_BYTES = 16,  // what the allocator adds to the entry, and to its value
};

#define NOBODY_WAITS "Nobody waits for this answer any more."

enum entry_state { ENTRY_LOADING, ENTRY_READY, ENTRY_FAILED };

struct cache_entry {
    struct cache_entry *next_in_bucket;
    struct cache_entry *newer, *older;  // in the LRU list, while users is 0
    size_t bucket;
    enum entry_state state;
    unsigned users;  // the loader, holders and waiters
    struct cache_value value;
    struct error *error;  // of a failed load
    char key[];
};

// Somebody who loads an entry, or waits for it: a node on the stack of cache_get.
struct engagement {
    struct engagement *newer, *older;
    struct reading *reading;
    const struct cache_entry *entry;
    bool loads, is_wanted;
};

struct cache {
    pthread_mutex_t lock;
    pthread_cond_t loaded;
    struct cache_entry *buckets[BUCKET_COUNT];
    struct cache_entry *newest, *oldest;
    size_t budget_bytes;
    size_t oversize_bytes;  // of values in use that are larger than the budget
    struct cache_stats stats;
    struct engagement *engagements;
    struct load_slots slots;
};

struct cache *cache_new(size_t budget_bytes, unsigned parallel_loads) {
    struct cache *cache = calloc(1, sizeof *cache);
    if (!cache) return NULL;
    cache->budget_bytes = budget_bytes;
    pthread_mutex_init(&cache->lock, NULL);
    pthread_cond_init(&cache->loaded, NULL);
    load_slots_init(&cache->slots, parallel_loads, &cache->lock);
    return cache;
}

static void entry_free(struct cache_entry *entry) {
    if (entry->value.destroy) entry->value.destroy(entry->value.data);
    free(entry->error);
    free(entry);
}

void cache_free(struct cache *cache) {
    if (!cache) return;
    for (size_t i = 0; i < BUCKET_COUNT; i++) {
        for (struct cache_entry *entry = cache->buckets[i], *next; entry; entry = next) {
            next = entry->next_in_bucket;
            entry_free(entry);
        }
    }
    load_slots_destroy(&cache->slots);
    pthread_cond_destroy(&cache->loaded);
    pthread_mutex_destroy(&cache->lock);
    free(cache);
}

// --- The table (all below: the lock is held, unless said otherwise) ---

static size_t bucket_of(const char *key) {
    return (size_t)id_map_key(bytes_of(key)) & (BUCKET_COUNT - 1);
}

size_t cache_entry_bytes(const char *key) {
    return sizeof(struct cache_entry) + strlen(key) + 1 + 2 * (size_t)ALLOCATION_HEAD_BYTES;
}

static struct cache_entry *find(const struct cache *cache, const char *key) {
    struct cache_entry *entry = cache->buckets[bucket_of(key)];
    while (entry && strcmp(entry->key, key) != 0) entry = entry->next_in_bucket;
    return entry;
}

static struct cache_entry *insert_loading(struct cache *cache, const char *key) {
    size_t key_size = strlen(key) + 1;
    struct cache_entry *entry = memory_or_refusal(calloc(1, sizeof *entry + key_size));
    if (!entry) return NULL;
    memcpy(entry->key, key, key_size);
    entry->bucket = bucket_of(key);
    entry->users = 1;
    entry->next_in_bucket = cache->buckets[entry->bucket];
    cache->buckets[entry->bucket] = entry;
    cache->stats.entries++;
    return entry;
}

static void remove_from_table(struct cache *cache, struct cache_entry *entry) {
    struct cache_entry **link = &cache->buckets[entry->bucket];
    while (*link != entry) link = &(*link)->next_in_bucket;
    *link = entry->next_in_bucket;
    cache->stats.entries--;
}

// --- The LRU list ---

static void unlink_idle(struct cache *cache, struct cache_entry *entry) {
    if (entry->newer)
        entry->newer->older = entry->older;
    else
        cache->newest = entry->older;
    if (entry->older)
        entry->older->newer = entry->newer;
    else
        cache->oldest = entry->newer;
    entry->newer = entry->older = NULL;
}

static void link_idle(struct cache *cache, struct cache_entry *entry) {
    entry->older = cache->newest;
    if (cache->newest)
        cache->newest->newer = entry;
    else
        cache->oldest = entry;
    cache->newest = entry;
}

static void use(struct cache *cache, struct cache_entry *entry) {
    if (entry->users++ == 0) unlink_idle(cache, entry);
}

static size_t bytes_of_entry(const struct cache_entry *entry) {
    return entry->value.cost_bytes + cache_entry_bytes(entry->key);
}

static bool is_oversize(const struct cache *cache, const struct cache_entry *entry) {
    return bytes_of_entry(entry) > cache->budget_bytes;
}

static void count_entry(struct cache *cache, const struct cache_entry *entry) {
    cache->stats.used_bytes += bytes_of_entry(entry);
    if (is_oversize(cache, entry)) cache->oversize_bytes += bytes_of_entry(entry);
}

static void discount_entry(struct cache *cache, const struct cache_entry *entry) {
    cache->stats.used_bytes -= bytes_of_entry(entry);
    if (is_oversize(cache, entry)) cache->oversize_bytes -= bytes_of_entry(entry);
}

static void count_again(struct cache *cache, struct cache_entry *entry) {
    discount_entry(cache, entry);
    entry->value.cost_bytes = entry->value.cost_now(entry->value.data);
    count_entry(cache, entry);
}

static void take_out(struct cache *cache, struct cache_entry *entry, struct cache_entry **evicted) {
    unlink_idle(cache, entry);
    remove_from_table(cache, entry);
    discount_entry(cache, entry);
    cache->stats.evictions++;
    entry->next_in_bucket = *evicted;
    *evicted = entry;
}

// Takes the oldest idle entries out until the budget holds. They are freed by the caller, outside the lock.
static struct cache_entry *evict(struct cache *cache) {
    struct cache_entry *evicted = NULL;
    while (cache->stats.used_bytes - cache->oversize_bytes > cache->budget_bytes && cache->oldest)
        take_out(cache, cache->oldest, &evicted);
    return evicted;
}

// Without the lock.
static void free_evicted(struct cache_entry *evicted) {
    while (evicted) {
        struct cache_entry *next = evicted->next_in_bucket;
        entry_free(evicted);
        evicted = next;
    }
}

bool cache_make_room(struct cache *cache, size_t bytes) {
    struct cache_entry *evicted = NULL;
    pthread_mutex_lock(&cache->lock);
    size_t used = cache->stats.used_bytes, goal = used > bytes ? used - bytes : 0;
    while (cache->stats.used_bytes > goal && cache->oldest) take_out(cache, cache->oldest, &evicted);
    pthread_mutex_unlock(&cache->lock);
    bool has_some = evicted;
    free_evicted(evicted);
    return has_some;
}

// Gives back one use. Returns what has to be freed outside the lock.
static struct cache_entry *unuse(struct cache *cache, struct cache_entry *entry) {
    if (--entry->users) return NULL;
    if (entry->state == ENTRY_FAILED) {
        entry->next_in_bucket = NULL;
        return entry;
    }
    if (entry->value.cost_now) count_again(cache, entry);
    link_idle(cache, entry);
    struct cache_entry *evicted = NULL;
    if (!is_oversize(cache, entry)) return evict(cache);
    take_out(cache, entry, &evicted);
    return evicted;
}

// --- Who waits for what ---

static struct engagement *loader_of(const struct cache *cache, const struct cache_entry *entry) {
    struct engagement *one = cache->engagements;
    while (one && (one->entry != entry || !one->loads)) one = one->older;
    return one;
}

static void want_all_of(const struct cache *cache, const struct reading *reading) {
    for (struct engagement *one = cache->engagements; one; one = one->older) {
        if (one->reading == reading) one->is_wanted = true;
    }
}

// Whoever is wanted and waits wants whoever loads. False: nobody is wanted that was not before.
static bool want_loaders(const struct cache *cache) {
    bool has_more = false;
    for (const struct engagement *one = cache->engagements; one; one = one->older) {
        const struct engagement *loader = one->is_wanted && !one->loads ? loader_of(cache, one->entry) : NULL;
        if (!loader || loader->is_wanted) continue;
        want_all_of(cache, loader->reading);
        has_more = true;
    }
    return has_more;
}

static void stop_unwanted(struct cache *cache) {
    for (struct engagement *one = cache->engagements; one; one = one->older)
        one->is_wanted = !reading_is_abandoned(one->reading);
    while (want_loaders(cache)) continue;
    for (struct engagement *one = cache->engagements; one; one = one->older) {
        if (!one->is_wanted) reading_stop(one->reading);
    }
    pthread_cond_broadcast(&cache->loaded);  // for those who wait and are stopped
    load_slots_wake(&cache->slots);
}

static void engage(struct cache *cache, struct engagement *one) {
    one->older = cache->engagements;
    if (one->older) one->older->newer = one;
    cache->engagements = one;
    if (reading_is_abandoned(one->reading)) stop_unwanted(cache);
}

static void disengage(struct cache *cache, struct engagement *one) {
    *(one->newer ? &one->newer->older : &cache->engagements) = one->older;
    if (one->older) one->older->newer = one->newer;
}

static bool is_engaged(const struct cache *cache, const struct reading *reading) {
    const struct engagement *one = cache->engagements;
    while (one && one->reading != reading) one = one->older;
    return one;
}

void cache_abandon(struct cache *cache, struct reading *reading) {
    pthread_mutex_lock(&cache->lock);
    reading_abandon(reading);
    if (is_engaged(cache, reading))
        stop_unwanted(cache);
    else
        reading_stop(reading);
    pthread_mutex_unlock(&cache->lock);
}

// Whose reading `reading` waits for, by way of all who wait for each other; nobody waits in a circle.
static struct reading *read_for(const struct cache *cache, struct reading *reading) {
    for (const struct engagement *one = cache->engagements; one; one = one->older) {
        const struct engagement *loader = one->reading == reading && !one->loads ? loader_of(cache, one->entry) : NULL;
        if (loader && loader->reading && loader->reading != reading) return read_for(cache, loader->reading);
    }
    return reading;
}

struct reading_state cache_look(struct cache *cache, struct reading *reading) {
    pthread_mutex_lock(&cache->lock);
    struct reading_state state = reading_look(read_for(cache, reading));
    pthread_mutex_unlock(&cache->lock);
    return state;
}

// Waits for another thread's load of `entry`. A slot held by this thread is lent out meanwhile: the other load, or one
// it waits for, may need it.
static void wait_until_loaded(struct cache *cache, struct cache_entry *entry, const struct reading *reading) {
    struct load_slot lent;
    load_slots_lend(&cache->slots, &lent);
    while (entry->state == ENTRY_LOADING && !reading_is_stopped(reading))
        pthread_cond_wait(&cache->loaded, &cache->lock);
    load_slots_resume(&cache->slots, &lent);
}

// --- Loading ---

static struct error *error_copy(const struct error *error) {
    struct error *copy = malloc(sizeof *copy);
    if (copy) *copy = *error;
    return copy;
}

static void settle(struct cache *cache, struct cache_entry *entry, bool is_good, const struct error *error) {
    if (is_good) {
        entry->state = ENTRY_READY;
        count_entry(cache, entry);
    } else {
        entry->state = ENTRY_FAILED;
        entry->value = (struct cache_value){0};
        entry->error = error_copy(error);
        remove_from_table(cache, entry);
    }
    pthread_cond_broadcast(&cache->loaded);
}

// What was made while the system had no memory to give may lack anything: it is not kept, nor handed out.
static bool load_whole(cache_load *load, void *context, struct cache_value *value, struct error *error) {
    uint64_t before = memory_refusals();
    bool is_good = load(context, value, error);
    if (!memory_was_refused(before, error)) return is_good;
    if (is_good && value->destroy) value->destroy(value->data);
    return false;
}

static bool load_in_turn(struct cache *cache, cache_load *load, void *context, struct cache_value *value,
                         struct error *error) {
    cache->stats.loads++;
    pthread_mutex_unlock(&cache->lock);
    int64_t begun_ns = steady_ns();
    bool is_good = load_whole(load, context, value, error);
    int64_t took_ns = steady_ns() - begun_ns;
    pthread_mutex_lock(&cache->lock);
    cache->stats.load_ns += (uint64_t)took_ns;
    cache->stats.failures += !is_good;
    return is_good;
}

static void load_entry(struct cache *cache, struct cache_entry *entry, struct load_wish wish, cache_load *load,
                       void *context, struct reading *reading, struct error *error) {
    struct load_wish outer;
    if (!load_slots_enter(&cache->slots, wish, reading_asker(reading), reading, &outer)) {
        error_set(error, ERROR_STOPPED, NOBODY_WAITS);
        settle(cache, entry, false, error);
        return;
    }
    settle(cache, entry, load_in_turn(cache, load, context, &entry->value, error), error);
    load_slots_leave(&cache->slots, wish, &outer);
}

static void report_failure(const struct cache_entry *entry, struct error *error) {
    if (entry->error)
        *error = *entry->error;
    else
        error_set(error, ERROR_NO_MEMORY, "There is not enough memory.");
    memory_refused_elsewhere(error);
}

// The entry of `key`, in use; NULL: no memory.
static struct cache_entry *take(struct cache *cache, const char *key, struct load_wish wish, cache_load *load,
                                void *context, struct reading *reading, struct error *error) {
    struct engagement mine = {.reading = reading};
    struct cache_entry *entry = find(cache, key);
    mine.loads = !entry;
    cache->stats.hits += entry != NULL;
    if (entry)
        use(cache, entry);
    else
        entry = insert_loading(cache, key);
    if (!entry || entry->state != ENTRY_LOADING) return entry;
    mine.entry = entry;
    engage(cache, &mine);
    if (mine.loads)
        load_entry(cache, entry, wish, load, context, reading, error);
    else
        wait_until_loaded(cache, entry, reading);
    disengage(cache, &mine);
    return entry;
}

// Whoever waited for a load that was stopped because of others who have gone.
static bool should_load_again(const struct cache_entry *entry, const struct reading *reading) {
    return entry->state == ENTRY_FAILED && entry->error && entry->error->code == ERROR_STOPPED &&
           !reading_is_stopped(reading);
}

struct cache_entry *cache_get(struct cache *cache, const char *key, struct load_wish wish, cache_load *load,
                              void *context, struct reading *reading, struct error *error) {
    struct cache_entry *to_free = NULL;
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = take(cache, key, wish, load, context, reading, error);
    while (entry && should_load_again(entry, reading)) {
        free_evicted(unuse(cache, entry));
        entry = take(cache, key, wish, load, context, reading, error);
    }
    if (!entry) {
        error_set(error, ERROR_NO_MEMORY, "There is not enough memory.");
    } else if (entry->state == ENTRY_READY) {
        to_free = evict(cache);
    } else {
        if (entry->state == ENTRY_FAILED)
            report_failure(entry, error);
        else
            error_set(error, ERROR_STOPPED, NOBODY_WAITS);
        to_free = unuse(cache, entry);
        entry = NULL;
    }
    pthread_mutex_unlock(&cache->lock);
    free_evicted(to_free);
    return entry;
}

struct cache_entry *cache_peek(struct cache *cache, const char *key) {
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *entry = find(cache, key);
    if (entry && entry->state != ENTRY_READY) entry = NULL;
    if (entry) use(cache, entry);
    pthread_mutex_unlock(&cache->lock);
    return entry;
}

void cache_release(struct cache *cache, struct cache_entry *entry) {
    pthread_mutex_lock(&cache->lock);
    struct cache_entry *to_free = unuse(cache, entry);
    pthread_mutex_unlock(&cache->lock);
    free_evicted(to_free);
}

void *cache_data(const struct cache_entry *entry) {
    return entry->value.data;
}

void cache_take_slot(struct cache *cache, struct load_wish wish, const struct reading *reading,
                     struct load_wish *outer) {
    pthread_mutex_lock(&cache->lock);
    (void)load_slots_enter(&cache->slots, wish, reading_asker(reading), NULL, outer);
    pthread_mutex_unlock(&cache->lock);
}

void cache_give_slot(struct cache *cache, struct load_wish wish, const struct load_wish *outer) {
    pthread_mutex_lock(&cache->lock);
    load_slots_leave(&cache->slots, wish, outer);
    pthread_mutex_unlock(&cache->lock);
}

struct cache_stats cache_stats_read(struct cache *cache) {
    pthread_mutex_lock(&cache->lock);
    struct cache_stats stats = cache->stats;
    stats.budget_bytes = cache->budget_bytes;
    stats.load_counts = load_slots_count(&cache->slots);
    pthread_mutex_unlock(&cache->lock);
    return stats;
}
