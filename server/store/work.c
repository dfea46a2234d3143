#include "server/store/work.h"

struct work_pin {
    struct work_pin *next;
    struct cache_entry *entry;  // or NULL, then:
    void (*release)(void *thing);
    void *thing;
};

void work_init(struct work *work, struct cache *cache) {
    *work = (struct work){.cache = cache};
    arena_init(&work->arena, WORK_ARENA_LIMIT_BYTES);
}

void work_init_for(struct work *work, const struct work *asker) {
    work_init(work, asker->cache);
    work->reading = asker->reading;
    work->is_urgent = asker->is_urgent;
    work->missed = asker->missed;
}

void work_free(struct work *work) {
    for (struct work_pin *pin = work->pins; pin; pin = pin->next) {
        if (pin->entry)
            cache_release(work->cache, pin->entry);
        else
            pin->release(pin->thing);
    }
    work->pins = NULL;
    arena_free(&work->arena);
}

void work_unpin(struct work *work) {
    struct work_pin **link = &work->pins, *pin;
    while ((pin = *link)) {
        if (pin->entry) {
            cache_release(work->cache, pin->entry);
            *link = pin->next;
        } else {
            link = &pin->next;
        }
    }
}

static bool add_pin(struct work *work, struct work_pin pin) {
    struct work_pin *kept = arena_new(&work->arena, struct work_pin, 1);
    if (!kept) return false;
    *kept = pin;
    kept->next = work->pins;
    work->pins = kept;
    return true;
}

static void *pin(struct work *work, struct cache_entry *entry) {
    if (add_pin(work, (struct work_pin){.entry = entry})) return cache_data(entry);
    cache_release(work->cache, entry);
    return NULL;
}

bool work_may_load(const struct work *work) {
    if (work->missed) atomic_store(work->missed, true);
    return !work->missed;
}

bool work_has_missed(const struct work *work) {
    return work->missed && atomic_load(work->missed);
}

static void *get_kept(struct work *work, const char *key, struct error *error) {
    void *data = work_peek(work, key);
    if (!data && !work_may_load(work)) error_set(error, ERROR_STOPPED, "This has to be loaded first.");
    return data;
}

void *work_get(struct work *work, const char *key, struct load_wish wish, cache_load *load, void *context,
               struct error *error) {
    if (work->missed && wish.lane != LOAD_FREE) return get_kept(work, key, error);
    if (work->is_urgent && wish.lane != LOAD_FREE) wish.lane = LOAD_URGENT;
    struct cache_entry *entry = cache_get(work->cache, key, wish, load, context, work->reading, error);
    if (!entry) return NULL;
    void *data = pin(work, entry);
    if (!data) work_out_of_memory(error);
    return data;
}

void *work_peek(struct work *work, const char *key) {
    struct cache_entry *entry = cache_peek(work->cache, key);
    return entry ? pin(work, entry) : NULL;
}

bool work_defer(struct work *work, void (*release)(void *thing), void *thing) {
    if (add_pin(work, (struct work_pin){.release = release, .thing = thing})) return true;
    release(thing);
    return false;
}

void work_release(struct work *work, void (*release)(void *thing)) {
    struct work_pin **link = &work->pins, *pin;
    while ((pin = *link)) {
        if (pin->release == release) {
            release(pin->thing);
            *link = pin->next;
        } else {
            link = &pin->next;
        }
    }
}

bool work_out_of_memory(struct error *error) {
    return error_set(error, ERROR_TOO_BIG, "There is not enough memory for this request.");
}
