// server/steady_wait: waits end after their time, and before it when there is news.
#include "analysis/base/steady_clock.h"

#include "server/steady_wait.h"
#include "tests/unit/cmocka_all.h"

enum { MOMENT_MS = 20, LONG_MS = 60000 };

struct news {
    pthread_mutex_t lock;
    pthread_cond_t told;
    bool is_there;
};

static int set_up(void **state) {
    static struct news news;
    news = (struct news){.is_there = false};
    pthread_mutex_init(&news.lock, NULL);
    steady_condition_init(&news.told);
    *state = &news;
    return 0;
}

static int tear_down(void **state) {
    struct news *news = *state;
    pthread_cond_destroy(&news->told);
    pthread_mutex_destroy(&news->lock);
    return 0;
}

static void *tell(void *context) {
    struct news *news = context;
    pthread_mutex_lock(&news->lock);
    news->is_there = true;
    pthread_cond_signal(&news->told);
    pthread_mutex_unlock(&news->lock);
    return NULL;
}

// Of the clock it is set by, too: by another it would end at once, or in years.
static void without_news_a_wait_ends_after_its_time(void **state) {
    struct news *news = *state;
    int64_t begun_ns = steady_ns(), until_ms = steady_ms() + MOMENT_MS;
    pthread_mutex_lock(&news->lock);
    while (steady_wait(&news->told, &news->lock, until_ms - steady_ms())) continue;
    pthread_mutex_unlock(&news->lock);
    assert_true(steady_ns() - begun_ns >= (int64_t)(MOMENT_MS - 1) * 1000000);
}

static void time_that_has_passed_is_no_wait(void **state) {
    struct news *news = *state;
    pthread_mutex_lock(&news->lock);
    while (steady_wait(&news->told, &news->lock, -LONG_MS)) continue;
    pthread_mutex_unlock(&news->lock);
}

static void news_end_a_wait(void **state) {
    struct news *news = *state;
    pthread_t teller;
    int64_t begun_ms = steady_ms();
    pthread_mutex_lock(&news->lock);
    assert_int_equal(pthread_create(&teller, NULL, tell, news), 0);
    while (!news->is_there) assert_true(steady_wait(&news->told, &news->lock, LONG_MS));
    pthread_mutex_unlock(&news->lock);
    pthread_join(teller, NULL);
    assert_true(steady_ms() - begun_ms < LONG_MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_news_a_wait_ends_after_its_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_that_has_passed_is_no_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(news_end_a_wait, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
