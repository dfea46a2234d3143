// Who may load: lanes, slow loads, fairness between askers and places, and giving up.
#include "tests/unit/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include "server/store/cache.h"

// A load that lasts until it is let go; it waits for its storage, or works, meanwhile.
struct loader {
    struct cache *cache;
    struct load_wish wish;
    bool awaits_storage;
    struct loader *inner;  // what it needs first
    char key[16];
    struct reading reading;
    atomic_bool has_begun, may_end;
    enum error_code code;
    pthread_t thread;
};

static void keep_nothing(void *data) {
    (void)data;
}

static void load_inner(struct loader *loader, struct error *error);

static bool load(void *context, struct cache_value *value, struct error *error) {
    struct loader *loader = context;
    if (loader->inner) load_inner(loader->inner, error);
    if (loader->awaits_storage) reading_awaits(&loader->reading);
    atomic_store(&loader->has_begun, true);
    while (!atomic_load(&loader->may_end)) sched_yield();
    if (loader->awaits_storage) reading_has_come(&loader->reading);
    *value = (struct cache_value){.data = loader, .cost_bytes = 1, .destroy = keep_nothing};
    return true;
}

static void load_inner(struct loader *loader, struct error *error) {
    struct cache_entry *entry = cache_get(loader->cache, loader->key, loader->wish, load, loader, &loader->reading,
                                          error);
    loader->code = error->code;
    if (entry) cache_release(loader->cache, entry);
}

static void *run(void *context) {
    struct error error = {.code = ERROR_NONE};
    load_inner(context, &error);
    return NULL;
}

static void make(struct loader *loader, struct cache *cache, struct load_wish wish, int number) {
    *loader = (struct loader){.cache = cache, .wish = wish};
    snprintf(loader->key, sizeof loader->key, "%d", number);
    reading_init(&loader->reading);
}

static void start(struct loader *loader) {
    assert_int_equal(pthread_create(&loader->thread, NULL, run, loader), 0);
}

static void begin(struct loader *loader, struct cache *cache, struct load_wish wish, bool awaits_storage, int number) {
    make(loader, cache, wish, number);
    loader->awaits_storage = awaits_storage;
    start(loader);
}

static void begin_for(const void *asker, struct loader *loader, struct cache *cache, int number) {
    make(loader, cache, (struct load_wish){.lane = LOAD_MADE}, number);
    loader->reading.asker = asker;
    start(loader);
}

static void await_begun(struct loader *loader) {
    while (!atomic_load(&loader->has_begun)) sched_yield();
}

// Whichever of them begins first; so a wrong order fails, and nobody waits for ever.
static struct loader *await_any(struct loader *const *of, size_t count) {
    for (size_t i = 0;; i = (i + 1) % count) {
        if (atomic_load(&of[i]->has_begun)) return of[i];
        sched_yield();
    }
}

static void await_waiting(struct cache *cache, size_t count) {
    while (cache_stats_read(cache).load_counts.waiting != count) sched_yield();
}

static void end(struct loader *loader) {
    atomic_store(&loader->may_end, true);
    pthread_join(loader->thread, NULL);
}

static void no_lane_waits_for_another(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct loader loaders[LOAD_LANES];
    for (int lane = 0; lane < LOAD_LANES; lane++) {
        begin(&loaders[lane], cache, (struct load_wish){.lane = (enum load_lane)lane}, false, lane);
        await_begun(&loaders[lane]);
    }
    for (int lane = 0; lane < LOAD_LANES; lane++) end(&loaders[lane]);
    cache_free(cache);
}

// One core, and all large ones that can be slow are: each begins while the others go on, and so does one of another
// place.
static void slow_loads_delay_nobody(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct loader loaders[LOAD_SLOW_LARGE_MAX], late, elsewhere;
    struct load_wish here = {LOAD_LARGE, 1}, there = {LOAD_LARGE, 2};
    for (int i = 0; i < LOAD_SLOW_LARGE_MAX; i++) begin(&loaders[i], cache, here, true, i);
    for (int i = 0; i < LOAD_SLOW_LARGE_MAX; i++) await_begun(&loaders[i]);
    while (cache_stats_read(cache).load_counts.slow != LOAD_SLOW_LARGE_MAX) sched_yield();
    begin(&late, cache, here, true, 100);
    await_waiting(cache, 1);
    begin(&elsewhere, cache, there, false, 101);
    await_begun(&elsewhere);
    assert_false(atomic_load(&late.has_begun));
    end(&elsewhere);
    end(&loaders[0]);
    await_begun(&late);
    for (int i = 1; i < LOAD_SLOW_LARGE_MAX; i++) end(&loaders[i]);
    end(&late);
    cache_free(cache);
}

// Of small ones there are more that are slow than there may be of large ones.
static void many_small_loads_may_be_slow(void **state) {
    (void)state;
    enum { MORE = LOAD_SLOW_LARGE_MAX + 4 };
    struct cache *cache = cache_new(1000, 1);
    struct loader loaders[MORE];
    struct load_wish here = {LOAD_SMALL, 1};
    for (int i = 0; i < MORE; i++) begin(&loaders[i], cache, here, true, i);
    for (int i = 0; i < MORE; i++) await_begun(&loaders[i]);
    for (int i = 0; i < MORE; i++) end(&loaders[i]);
    cache_free(cache);
}

static void what_works_is_not_slow(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct loader works, next;
    struct load_wish here = {LOAD_LARGE, 1};
    begin(&works, cache, here, false, 0);
    await_begun(&works);
    begin(&next, cache, here, false, 1);
    await_waiting(cache, 1);
    assert_int_equal(cache_stats_read(cache).load_counts.slow, 0);
    assert_false(atomic_load(&next.has_begun));
    end(&works);
    await_begun(&next);
    end(&next);
    cache_free(cache);
}

// Two of one place wait, then one of another: that one is next.
static void places_take_turns(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 2);
    struct loader first[2], second[2], other;
    struct load_wish here = {LOAD_LARGE, 1}, there = {LOAD_LARGE, 2};
    for (int i = 0; i < 2; i++) {
        begin(&first[i], cache, here, false, i);
        await_begun(&first[i]);
    }
    for (int i = 0; i < 2; i++) {
        begin(&second[i], cache, here, false, 10 + i);
        await_waiting(cache, (size_t)i + 1);
    }
    begin(&other, cache, there, false, 20);
    await_waiting(cache, 3);
    end(&first[0]);
    await_begun(&other);
    assert_false(atomic_load(&second[0].has_begun) || atomic_load(&second[1].has_begun));
    end(&first[1]);
    end(&other);
    for (int i = 0; i < 2; i++) end(&second[i]);
    cache_free(cache);
}

// One asks for four things, then another for two, of whom nothing is under way: they are let in by turns.
static void askers_take_turns(void **state) {
    (void)state;
    enum { ONES = 4, OTHERS = 2 };
    static const int one, other;
    struct cache *cache = cache_new(1000, 1);
    struct loader ones[ONES], others[OTHERS];
    for (int i = 0; i < ONES; i++) {
        begin_for(&one, &ones[i], cache, i);
        i ? await_waiting(cache, (size_t)i) : await_begun(&ones[i]);
    }
    for (int i = 0; i < OTHERS; i++) {
        begin_for(&other, &others[i], cache, 10 + i);
        await_waiting(cache, (size_t)ONES + (size_t)i);
    }
    struct loader *in_turn[] = {&ones[0], &others[0], &ones[1], &others[1], &ones[2], &ones[3]};
    for (size_t i = 0; i < ONES + OTHERS; i++) {
        assert_ptr_equal(await_any(&in_turn[i], ONES + OTHERS - i), in_turn[i]);
        end(in_turn[i]);
    }
    cache_free(cache);
}

// What has been let in once, and needed something of another lane, does not queue again behind who came meanwhile.
static void whoever_resumes_is_first(void **state) {
    (void)state;
    struct load_wish made = {.lane = LOAD_MADE};
    struct cache *cache = cache_new(1000, 1);
    struct loader outer, inner, works, waits;
    make(&inner, cache, (struct load_wish){.lane = LOAD_SMALL}, 0);
    make(&outer, cache, made, 1);
    outer.inner = &inner;
    start(&outer);
    await_begun(&inner);
    begin(&works, cache, made, false, 2);
    await_begun(&works);
    begin(&waits, cache, made, false, 3);
    await_waiting(cache, 1);
    atomic_store(&inner.may_end, true);
    await_waiting(cache, 2);
    end(&works);
    assert_ptr_equal(await_any((struct loader *[]){&outer, &waits}, 2), &outer);
    assert_false(atomic_load(&waits.has_begun));
    end(&outer);
    end(&waits);
    cache_free(cache);
}

static void whoever_goes_waits_no_longer(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct loader works, gone;
    struct load_wish here = {LOAD_LARGE, 1};
    begin(&works, cache, here, false, 0);
    await_begun(&works);
    begin(&gone, cache, here, false, 1);
    await_waiting(cache, 1);
    cache_abandon(cache, &gone.reading);
    pthread_join(gone.thread, NULL);
    assert_int_equal(gone.code, ERROR_STOPPED);
    assert_false(atomic_load(&gone.has_begun));
    end(&works);
    cache_free(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_lane_waits_for_another),
        cmocka_unit_test(slow_loads_delay_nobody),
        cmocka_unit_test(what_works_is_not_slow),
        cmocka_unit_test(places_take_turns),
        cmocka_unit_test(whoever_goes_waits_no_longer),
        cmocka_unit_test(many_small_loads_may_be_slow),
        cmocka_unit_test(askers_take_turns),
        cmocka_unit_test(whoever_resumes_is_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
