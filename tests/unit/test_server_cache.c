// The cache: one load for a key, LRU by bytes, errors not kept, many threads.
#include "tests/unit/cmocka_all.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/base/refused_memory.h"
#include "server/store/cache.h"
#include "server/store/work.h"

static const struct load_wish any_load;
static atomic_int alive;  // values that were made and not destroyed

struct recipe {
    struct cache *cache;
    size_t cost_bytes;
    int number;
    const char *inner_key;  // load this first
    bool fails;
    int sleep_ms;
    atomic_int *loads, *running, *most_running;
    struct load_wish wish;
};

static void pause_ms(int ms) {
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static void destroy(void *data) {
    atomic_fetch_sub(&alive, 1);
    free(data);
}

static void note_running(struct recipe *recipe, int change) {
    if (!recipe->running) return;
    int now = atomic_fetch_add(recipe->running, change) + change, most = atomic_load(recipe->most_running);
    while (now > most && !atomic_compare_exchange_weak(recipe->most_running, &most, now)) continue;
}

static bool load(void *context, struct cache_value *value, struct error *error) {
    struct recipe *recipe = context;
    if (recipe->loads) atomic_fetch_add(recipe->loads, 1);
    note_running(recipe, 1);
    if (recipe->sleep_ms) pause_ms(recipe->sleep_ms);
    note_running(recipe, -1);
    if (recipe->fails) return error_at(error, ERROR_MALFORMED, 7, "broken on purpose");
    if (recipe->inner_key) {
        struct recipe inner = *recipe;
        inner.inner_key = NULL;
        struct cache_entry *entry = cache_get(recipe->cache, recipe->inner_key, any_load, load, &inner, NULL, error);
        if (!entry) return false;
        cache_release(recipe->cache, entry);
    }
    int *data = malloc(sizeof *data);
    assert_non_null(data);
    *data = recipe->number;
    atomic_fetch_add(&alive, 1);
    *value = (struct cache_value){.data = data, .cost_bytes = recipe->cost_bytes, .destroy = destroy};
    return true;
}

static int get(struct cache *cache, const char *key, struct recipe recipe) {
    struct error error;
    recipe.cache = cache;
    struct cache_entry *entry = cache_get(cache, key, recipe.wish, load, &recipe, NULL, &error);
    if (!entry) return -1;
    int number = *(int *)cache_data(entry);
    cache_release(cache, entry);
    return number;
}

static void loads_once_then_answers_from_memory(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 2);
    assert_int_equal(get(cache, "a", (struct recipe){.number = 1, .cost_bytes = 10}), 1);
    assert_int_equal(get(cache, "a", (struct recipe){.number = 2, .cost_bytes = 10}), 1);
    assert_int_equal(cache_stats_read(cache).loads, 1);
    assert_int_equal(cache_stats_read(cache).used_bytes, 10 + cache_entry_bytes("a"));
    cache_free(cache);
    assert_int_equal(atomic_load(&alive), 0);
}

static void drops_the_least_recently_used(void **state) {
    (void)state;
    struct cache *cache = cache_new(3 * (10 + cache_entry_bytes("a")), 1);
    get(cache, "a", (struct recipe){.number = 1, .cost_bytes = 10});
    get(cache, "b", (struct recipe){.number = 2, .cost_bytes = 10});
    get(cache, "c", (struct recipe){.number = 3, .cost_bytes = 10});
    get(cache, "a", (struct recipe){.number = 9, .cost_bytes = 10});
    get(cache, "d", (struct recipe){.number = 4, .cost_bytes = 10});
    assert_int_equal(get(cache, "a", (struct recipe){.number = 9, .cost_bytes = 10}), 1);
    assert_int_equal(cache_stats_read(cache).loads, 4);
    assert_int_equal(cache_stats_read(cache).used_bytes, 3 * (10 + cache_entry_bytes("a")));
    assert_int_equal(cache_stats_read(cache).evictions, 1);
    assert_int_equal(get(cache, "b", (struct recipe){.number = 7, .cost_bytes = 10}), 7);  // it was b that went
    cache_free(cache);
    assert_int_equal(atomic_load(&alive), 0);
}

// An answer that was made of it may take minutes to be read.
static void what_a_work_needs_no_more_goes_before_its_end(void **state) {
    (void)state;
    struct cache *cache = cache_new(0, 1);
    struct recipe recipe = {.cache = cache, .number = 1, .cost_bytes = 10};
    struct work work;
    struct error error;
    work_init(&work, cache);
    assert_non_null(work_get(&work, "a", any_load, load, &recipe, &error));
    assert_true(work_defer(&work, destroy, calloc(1, 1)));
    atomic_fetch_add(&alive, 1);
    assert_non_null(work_get(&work, "b", any_load, load, &recipe, &error));
    assert_int_equal(atomic_load(&alive), 3);
    work_unpin(&work);
    assert_int_equal(atomic_load(&alive), 1);  // what was deferred
    work_free(&work);
    assert_int_equal(atomic_load(&alive), 0);
    cache_free(cache);
}

static void a_byte_over_the_budget_is_too_much(void **state) {
    (void)state;
    struct cache *cache = cache_new(2 * (10 + cache_entry_bytes("a")), 1);
    get(cache, "a", (struct recipe){.number = 1, .cost_bytes = 10});
    get(cache, "b", (struct recipe){.number = 2, .cost_bytes = 10});
    assert_int_equal(cache_stats_read(cache).entries, 2);
    get(cache, "c", (struct recipe){.number = 3, .cost_bytes = 11});
    assert_int_equal(cache_stats_read(cache).entries, 1);
    assert_int_equal(cache_stats_read(cache).evictions, 2);
    cache_free(cache);
}

// A program of half a gigabyte in a cache of 160 MiB must not cost the replies that were made of it.
static void a_value_over_the_whole_budget_drives_nobody_out(void **state) {
    (void)state;
    struct cache *cache = cache_new(2 * (10 + cache_entry_bytes("a")), 1);
    struct error error;
    struct recipe large = {.cache = cache, .number = 1, .cost_bytes = 1000};
    get(cache, "a", (struct recipe){.number = 1, .cost_bytes = 10});
    struct cache_entry *entry = cache_get(cache, "large", any_load, load, &large, NULL, &error);
    assert_non_null(entry);
    get(cache, "b", (struct recipe){.number = 2, .cost_bytes = 10});
    assert_int_equal(cache_stats_read(cache).entries, 3);
    cache_release(cache, entry);
    assert_int_equal(cache_stats_read(cache).entries, 2);
    assert_int_equal(cache_stats_read(cache).used_bytes, 2 * (10 + cache_entry_bytes("a")));
    assert_int_equal(get(cache, "a", (struct recipe){.number = 9, .cost_bytes = 10}), 1);
    cache_free(cache);
    assert_int_equal(atomic_load(&alive), 0);
}

static void what_nobody_uses_makes_room(void **state) {
    (void)state;
    struct cache *cache = cache_new(100000, 1);
    struct error error;
    struct recipe used = {.cache = cache, .number = 1, .cost_bytes = 1000};
    struct cache_entry *entry = cache_get(cache, "used", any_load, load, &used, NULL, &error);
    get(cache, "a", (struct recipe){.number = 2, .cost_bytes = 1000});
    get(cache, "b", (struct recipe){.number = 3, .cost_bytes = 1000});
    assert_true(cache_make_room(cache, 1000));
    assert_int_equal(get(cache, "b", (struct recipe){.number = 9, .cost_bytes = 1000}), 3);  // it was a that went
    assert_int_equal(cache_stats_read(cache).entries, 2);
    assert_true(cache_make_room(cache, SIZE_MAX));
    assert_false(cache_make_room(cache, 1));
    assert_int_equal(cache_stats_read(cache).entries, 1);
    assert_int_equal(cache_stats_read(cache).used_bytes, 1000 + cache_entry_bytes("used"));
    cache_release(cache, entry);
    cache_free(cache);
    assert_int_equal(atomic_load(&alive), 0);
}

static size_t ten_times(void *data) {
    const int *number = data;
    return (size_t)*number * 10;
}

static bool load_growing(void *context, struct cache_value *value, struct error *error) {
    if (!load(context, value, error)) return false;
    value->cost_now = ten_times;
    return true;
}

// It is what it has become that counts, from when nobody uses it any more; and it makes room like all others.
static void a_value_may_grow_in_use(void **state) {
    (void)state;
    struct cache *cache = cache_new(60 + 2 * cache_entry_bytes("a"), 1);
    struct error error;
    struct recipe growing = {.cache = cache, .number = 1, .cost_bytes = 10};
    get(cache, "a", (struct recipe){.number = 1, .cost_bytes = 40});
    struct cache_entry *entry = cache_get(cache, "b", any_load, load_growing, &growing, NULL, &error);
    assert_non_null(entry);
    *(int *)cache_data(entry) = 2;
    assert_int_equal(cache_stats_read(cache).used_bytes, 50 + 2 * cache_entry_bytes("a"));
    cache_release(cache, entry);
    assert_int_equal(cache_stats_read(cache).used_bytes, 60 + 2 * cache_entry_bytes("a"));
    entry = cache_peek(cache, "b");
    assert_non_null(entry);
    *(int *)cache_data(entry) = 3;
    cache_release(cache, entry);
    assert_int_equal(cache_stats_read(cache).used_bytes, 30 + cache_entry_bytes("b"));
    entry = cache_peek(cache, "b");
    assert_non_null(entry);
    *(int *)cache_data(entry) = 1000;  // over the whole budget
    cache_release(cache, entry);
    assert_int_equal(cache_stats_read(cache).used_bytes, 0);
    cache_free(cache);
    assert_int_equal(atomic_load(&alive), 0);
}

// Values of a few bytes under keys of hundreds: names of files make such keys.
static void keys_and_entries_count(void **state) {
    (void)state;
    enum { BUDGET_BYTES = 1 << 20, KEY_BYTES = 500, ENTRIES = 10000 };
    struct cache *cache = cache_new(BUDGET_BYTES, 1);
    for (int i = 0; i < ENTRIES; i++) {
        char key[KEY_BYTES + 1];
        snprintf(key, sizeof key, "%0*d", KEY_BYTES, i);
        assert_int_equal(get(cache, key, (struct recipe){.number = i, .cost_bytes = 1}), i);
    }
    struct cache_stats stats = cache_stats_read(cache);
    assert_true(stats.used_bytes <= BUDGET_BYTES);
    assert_in_range(stats.entries, BUDGET_BYTES / KEY_BYTES / 2, BUDGET_BYTES / KEY_BYTES);
    cache_free(cache);
    assert_int_equal(atomic_load(&alive), 0);
}

static void keeps_what_is_in_use(void **state) {
    (void)state;
    struct cache *cache = cache_new(0, 1);
    struct error error;
    struct recipe recipe = {.cache = cache, .number = 1, .cost_bytes = 100};
    struct cache_entry *entry = cache_get(cache, "a", any_load, load, &recipe, NULL, &error);
    assert_non_null(entry);
    get(cache, "b", (struct recipe){.number = 2, .cost_bytes = 100});
    assert_int_equal(*(int *)cache_data(entry), 1);
    assert_int_equal(cache_stats_read(cache).entries, 1);
    cache_release(cache, entry);
    assert_int_equal(cache_stats_read(cache).entries, 0);
    assert_int_equal(atomic_load(&alive), 0);
    cache_free(cache);
}

static void does_not_keep_errors(void **state) {
    (void)state;
    struct cache *cache = cache_new(100, 1);
    struct error error;
    struct recipe recipe = {.cache = cache, .fails = true};
    assert_null(cache_get(cache, "a", any_load, load, &recipe, NULL, &error));
    assert_int_equal(error.code, ERROR_MALFORMED);
    assert_int_equal(error.offset, 7);
    assert_int_equal(get(cache, "a", (struct recipe){.number = 5}), 5);
    cache_free(cache);
}

// As a list that is shorter than it should be: nothing on the way said that memory was missing.
static bool load_less(void *context, struct cache_value *value, struct error *error) {
    (void)memory_or_refusal(NULL);
    return load(context, value, error);
}

static void does_not_keep_what_lacked_memory(void **state) {
    (void)state;
    struct cache *cache = cache_new(100, 1);
    struct error error;
    struct recipe recipe = {.cache = cache, .number = 4, .cost_bytes = 10};
    uint64_t before = memory_refusals();
    assert_null(cache_get(cache, "a", any_load, load_less, &recipe, NULL, &error));
    assert_int_equal(error.code, ERROR_NO_MEMORY);
    assert_int_equal(atomic_load(&alive), 0);
    assert_true(memory_was_refused(before, &error));
    assert_int_equal(get(cache, "a", (struct recipe){.number = 5, .cost_bytes = 10}), 5);
    recipe.fails = true;
    assert_null(cache_get(cache, "b", any_load, load_less, &recipe, NULL, &error));
    assert_int_equal(error.code, ERROR_NO_MEMORY);
    cache_free(cache);
}

// --- Threads ---

enum { THREADS = 8 };

struct caller {
    struct cache *cache;
    const char *key;
    struct recipe recipe;
    int result;
};

static void *call(void *context) {
    struct caller *caller = context;
    caller->result = get(caller->cache, caller->key, caller->recipe);
    return NULL;
}

static void run_callers(struct caller *callers, size_t count) {
    pthread_t threads[THREADS];
    for (size_t i = 0; i < count; i++) assert_int_equal(pthread_create(&threads[i], NULL, call, &callers[i]), 0);
    for (size_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void many_threads_share_one_load(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 4);
    atomic_int loads = 0;
    struct caller callers[THREADS];
    for (int i = 0; i < THREADS; i++)
        callers[i] = (struct caller){cache, "a", {.number = i, .sleep_ms = 30, .loads = &loads}, -2};
    run_callers(callers, THREADS);
    assert_int_equal(atomic_load(&loads), 1);
    for (int i = 1; i < THREADS; i++) assert_int_equal(callers[i].result, callers[0].result);
    cache_free(cache);
}

static void everybody_who_waits_gets_the_error(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 4);
    struct caller callers[THREADS];
    for (int i = 0; i < THREADS; i++) callers[i] = (struct caller){cache, "a", {.fails = true, .sleep_ms = 30}, -2};
    run_callers(callers, THREADS);
    for (int i = 0; i < THREADS; i++) assert_int_equal(callers[i].result, -1);
    assert_int_equal(cache_stats_read(cache).entries, 0);
    cache_free(cache);
}

static void runs_no_more_loads_at_once_than_asked(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 2);
    atomic_int running = 0, most = 0;
    char keys[THREADS][16];
    struct caller callers[THREADS];
    for (int i = 0; i < THREADS; i++) {
        snprintf(keys[i], sizeof keys[i], "%d", i);
        callers[i] = (struct caller){
            cache, keys[i], {.number = i, .sleep_ms = 10, .running = &running, .most_running = &most}, -2};
    }
    run_callers(callers, THREADS);
    assert_int_equal(atomic_load(&most), 2);
    for (int i = 0; i < THREADS; i++) assert_int_equal(callers[i].result, i);
    cache_free(cache);
}

// One slot, and it is taken: the index of a file is loaded all the same.
static void light_loads_take_no_slot(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct load_wish outer;
    cache_take_slot(cache, any_load, NULL, &outer);
    struct caller light = {cache, "light", {.number = 7, .wish = {.lane = LOAD_FREE}}, -2};
    run_callers(&light, 1);
    cache_give_slot(cache, any_load, &outer);
    assert_int_equal(light.result, 7);
    cache_free(cache);
}

// One slot, and loaders that need one another's inner entry: lending the slot keeps it from locking up.
static void nested_loads_do_not_lock_up(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct caller callers[THREADS];
    char keys[THREADS][16];
    for (int i = 0; i < THREADS; i++) {
        snprintf(keys[i], sizeof keys[i], "outer%d", i % 4);
        callers[i] = (struct caller){cache, keys[i], {.number = 3, .sleep_ms = 2, .inner_key = "inner"}, -2};
    }
    run_callers(callers, THREADS);
    for (int i = 0; i < THREADS; i++) assert_int_equal(callers[i].result, 3);
    cache_free(cache);
    assert_int_equal(atomic_load(&alive), 0);
}

static void *churn(void *context) {
    struct cache *cache = context;
    unsigned seed = (unsigned)(uintptr_t)&seed;
    for (int i = 0; i < 2000; i++) {
        char key[16];
        seed = seed * 1103515245 + 12345;
        int number = (int)(seed >> 16 & 31);
        snprintf(key, sizeof key, "%d", number);
        int got = get(cache, key, (struct recipe){.number = number, .cost_bytes = 10, .fails = (seed >> 24 & 7) == 0});
        if (got != number && got != -1) return context;
    }
    return NULL;
}

static void survives_a_crowd(void **state) {
    (void)state;
    size_t budget_bytes = 10 * (10 + cache_entry_bytes("31"));
    struct cache *cache = cache_new(budget_bytes, 3);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, churn, cache), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_true(cache_stats_read(cache).used_bytes <= budget_bytes);
    cache_free(cache);
    assert_int_equal(atomic_load(&alive), 0);
}

static void work_gives_back_what_it_pinned(void **state) {
    (void)state;
    struct cache *cache = cache_new(0, 1);
    struct work work;
    struct error error;
    struct recipe recipe = {.cache = cache, .number = 4, .cost_bytes = 10};
    work_init(&work, cache);
    const int *number = work_get(&work, "a", any_load, load, &recipe, &error);
    assert_non_null(number);
    assert_int_equal(*number, 4);
    assert_ptr_equal(work_get(&work, "a", any_load, load, &recipe, &error), number);
    atomic_fetch_add(&alive, 1);
    assert_true(work_defer(&work, destroy, malloc(1)));
    work_free(&work);
    assert_int_equal(atomic_load(&alive), 0);
    cache_free(cache);
}

static void work_that_looks_loads_nothing(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct work work;
    struct error error;
    atomic_bool missed = false;
    atomic_int loads = 0;
    struct recipe recipe = {.cache = cache, .number = 4, .cost_bytes = 10, .loads = &loads};
    work_init(&work, cache);
    assert_non_null(work_get(&work, "kept", any_load, load, &recipe, &error));
    work.missed = &missed;
    assert_non_null(work_get(&work, "kept", any_load, load, &recipe, &error));
    assert_non_null(work_get(&work, "free", (struct load_wish){.lane = LOAD_FREE}, load, &recipe, &error));
    assert_false(work_has_missed(&work));
    assert_null(work_get(&work, "not kept", any_load, load, &recipe, &error));
    assert_int_equal(error.code, ERROR_STOPPED);
    assert_true(work_has_missed(&work));
    assert_int_equal(atomic_load(&loads), 2);
    work_free(&work);
    cache_free(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_once_then_answers_from_memory),
        cmocka_unit_test(drops_the_least_recently_used),
        cmocka_unit_test(what_a_work_needs_no_more_goes_before_its_end),
        cmocka_unit_test(a_byte_over_the_budget_is_too_much),
        cmocka_unit_test(a_value_over_the_whole_budget_drives_nobody_out),
        cmocka_unit_test(what_nobody_uses_makes_room),
        cmocka_unit_test(a_value_may_grow_in_use),
        cmocka_unit_test(keys_and_entries_count),
        cmocka_unit_test(keeps_what_is_in_use),
        cmocka_unit_test(does_not_keep_errors),
        cmocka_unit_test(does_not_keep_what_lacked_memory),
        cmocka_unit_test(many_threads_share_one_load),
        cmocka_unit_test(everybody_who_waits_gets_the_error),
        cmocka_unit_test(runs_no_more_loads_at_once_than_asked),
        cmocka_unit_test(light_loads_take_no_slot),
        cmocka_unit_test(nested_loads_do_not_lock_up),
        cmocka_unit_test(survives_a_crowd),
        cmocka_unit_test(work_gives_back_what_it_pinned),
        cmocka_unit_test(work_that_looks_loads_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
