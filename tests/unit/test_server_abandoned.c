// Loads that nobody waits for any more are stopped, and no others.
#include "tests/unit/cmocka_all.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "server/store/cache.h"

static const struct load_wish any_load;

// A load that lasts until it is let go, or stopped; it may need another one first.
struct slow {
    struct cache *cache;
    struct reading *reading;  // of whoever loads it
    struct slow *inner;
    const char *inner_key;
    atomic_int begun, loads;
    atomic_bool may_end;
};

static void keep_nothing(void *data) {
    (void)data;
}

static bool load(void *context, struct cache_value *value, struct error *error) {
    struct slow *slow = context;
    atomic_fetch_add(&slow->loads, 1);
    if (slow->inner) {
        struct cache_entry *inner = cache_get(slow->cache, slow->inner_key, any_load, load, slow->inner, slow->reading,
                                              error);
        if (!inner) return false;
        cache_release(slow->cache, inner);
    }
    atomic_fetch_add(&slow->begun, 1);
    while (!atomic_load(&slow->may_end)) {
        if (!reading_goes_on(slow->reading, "file", error)) return false;
        sched_yield();
    }
    *value = (struct cache_value){.data = slow, .cost_bytes = 1, .destroy = keep_nothing};
    return true;
}

// Somebody who asks, on a thread of their own.
struct asker {
    struct cache *cache;
    const char *key;
    struct slow *slow;
    struct reading reading;
    struct error error;
    bool has_it;
    pthread_t thread;
};

static void *ask(void *context) {
    struct asker *asker = context;
    struct cache_entry *entry = cache_get(asker->cache, asker->key, any_load, load, asker->slow, &asker->reading,
                                          &asker->error);
    asker->has_it = entry != NULL;
    if (entry) cache_release(asker->cache, entry);
    return NULL;
}

static void begin(struct asker *asker, struct cache *cache, const char *key, struct slow *slow) {
    *asker = (struct asker){.cache = cache, .key = key, .slow = slow};
    reading_init(&asker->reading);
    assert_int_equal(pthread_create(&asker->thread, NULL, ask, asker), 0);
}

static void end(struct asker *asker) {
    pthread_join(asker->thread, NULL);
}

// Until it waits for the load of `loader`: then it sees what that reads.
static void await_waiting(struct asker *asker, struct asker *loader) {
    reading_begin(&loader->reading, "what is loaded");
    while (strcmp(cache_look(asker->cache, &asker->reading).path, "what is loaded") != 0) sched_yield();
}

static void await_begun(struct slow *slow) {
    while (!atomic_load(&slow->begun)) sched_yield();
}

static struct slow slow_of(struct cache *cache, struct asker *loader) {
    return (struct slow){.cache = cache, .reading = &loader->reading};
}

static void a_load_without_anybody_is_stopped(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 2);
    struct asker only;
    struct slow slow = slow_of(cache, &only);
    begin(&only, cache, "a", &slow);
    await_begun(&slow);
    cache_abandon(cache, &only.reading);
    end(&only);
    assert_false(only.has_it);
    assert_int_equal(only.error.code, ERROR_STOPPED);
    cache_free(cache);
}

static void a_load_goes_on_while_anybody_waits(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 2);
    struct asker first, second;
    struct slow slow = slow_of(cache, &first);
    begin(&first, cache, "a", &slow);
    await_begun(&slow);
    begin(&second, cache, "a", &slow);
    await_waiting(&second, &first);
    cache_abandon(cache, &first.reading);
    assert_false(reading_is_stopped(&first.reading));
    atomic_store(&slow.may_end, true);
    end(&second);
    end(&first);
    assert_true(second.has_it);
    assert_int_equal(atomic_load(&slow.loads), 1);
    cache_free(cache);
}

static void the_last_to_leave_stops_it(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 2);
    struct asker first, second;
    struct slow slow = slow_of(cache, &first);
    begin(&first, cache, "a", &slow);
    await_begun(&slow);
    begin(&second, cache, "a", &slow);
    await_waiting(&second, &first);
    cache_abandon(cache, &first.reading);
    cache_abandon(cache, &second.reading);
    end(&second);
    end(&first);
    assert_int_equal(first.error.code, ERROR_STOPPED);
    assert_int_equal(second.error.code, ERROR_STOPPED);
    cache_free(cache);
}

static void who_leaves_does_not_wait_for_the_end(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 2);
    struct asker first, second;
    struct slow slow = slow_of(cache, &first);
    begin(&first, cache, "a", &slow);
    await_begun(&slow);
    begin(&second, cache, "a", &slow);
    await_waiting(&second, &first);
    cache_abandon(cache, &second.reading);
    end(&second);  // while the load is under way
    assert_int_equal(second.error.code, ERROR_STOPPED);
    assert_false(reading_is_stopped(&first.reading));
    atomic_store(&slow.may_end, true);
    end(&first);
    assert_true(first.has_it);
    cache_free(cache);
}

// The reply of the first needs the module, for which the second waits as well; the third waits for the reply.
static void what_is_needed_on_the_way_goes_on_too(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 4);
    struct asker first, second, third;
    struct slow module = slow_of(cache, &first), reply = slow_of(cache, &first);
    reply.inner = &module;
    reply.inner_key = "module";
    atomic_store(&reply.may_end, true);
    begin(&first, cache, "reply", &reply);
    await_begun(&module);
    begin(&second, cache, "module", &module);
    await_waiting(&second, &first);
    begin(&third, cache, "reply", &reply);
    await_waiting(&third, &first);
    cache_abandon(cache, &first.reading);
    cache_abandon(cache, &second.reading);
    assert_false(reading_is_stopped(&first.reading));  // the third wants the reply, the reply the module
    end(&second);
    cache_abandon(cache, &third.reading);
    assert_true(reading_is_stopped(&first.reading));
    end(&third);
    end(&first);
    assert_int_equal(first.error.code, ERROR_STOPPED);
    cache_free(cache);
}

static void who_comes_after_the_stop_loads_anew(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 2);
    struct asker first, second;
    struct slow stopped = slow_of(cache, &first), anew = slow_of(cache, &second);
    struct reading stubborn;  // the first load does not hear of the stop at once
    reading_init(&stubborn);
    stopped.reading = &stubborn;
    atomic_store(&anew.may_end, true);
    begin(&first, cache, "a", &stopped);
    await_begun(&stopped);
    cache_abandon(cache, &first.reading);
    assert_true(reading_is_stopped(&first.reading));
    begin(&second, cache, "a", &anew);
    await_waiting(&second, &first);
    reading_stop(&stubborn);
    end(&second);
    end(&first);
    assert_true(second.has_it);
    assert_int_equal(atomic_load(&anew.loads), 1);
    cache_free(cache);
}

static void who_waits_for_nothing_is_stopped_at_once(void **state) {
    (void)state;
    struct cache *cache = cache_new(1000, 1);
    struct reading reading;
    reading_init(&reading);
    cache_abandon(cache, &reading);
    assert_true(reading_is_stopped(&reading));
    cache_free(cache);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_without_anybody_is_stopped),
        cmocka_unit_test(a_load_goes_on_while_anybody_waits),
        cmocka_unit_test(the_last_to_leave_stops_it),
        cmocka_unit_test(who_leaves_does_not_wait_for_the_end),
        cmocka_unit_test(what_is_needed_on_the_way_goes_on_too),
        cmocka_unit_test(who_comes_after_the_stop_loads_anew),
        cmocka_unit_test(who_waits_for_nothing_is_stopped_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
