// Whose turn it is to be answered.
#include "tests/unit/cmocka_all.h"

#include <sched.h>
#include <stdatomic.h>

#include "analysis/base/steady_clock.h"
#include "server/http/turns.h"

enum { MANY = 100, AN_HOUR_MS = 3600000 };

// A connection.
struct asker {
    struct turn turn;
    atomic_bool is_resumed;
};

static void resume(void *context) {
    struct asker *asker = context;
    atomic_store(&asker->is_resumed, true);
}

// True: it is answered at once.
static bool ask(struct turns *turns, struct asker *asker) {
    asker->turn.context = asker;
    asker->is_resumed = false;
    bool is_its_turn = turns_ask(turns, &asker->turn);
    if (!is_its_turn) turns_wait(turns, &asker->turn);
    return is_its_turn;
}

// Just now, for an hour.
static void ask_and_be_answered(struct turns *turns, struct asker *asker, unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        assert_true(ask(turns, asker));
        turns_end(turns, &asker->turn);
        asker->turn.since_ms = steady_ms() + AN_HOUR_MS;
    }
}

// As many are being answered as may be without places.
static void fill(struct turns *turns, struct asker askers[TURNS_FREE]) {
    for (size_t i = 0; i < TURNS_FREE; i++) assert_true(ask(turns, &askers[i]));
}

// And others wait, who had so many answers each.
static void fill_and_wait(struct turns *turns, struct asker busy[TURNS_FREE], struct asker waiting[MANY],
                          unsigned answers) {
    for (size_t i = 0; i < MANY; i++) ask_and_be_answered(turns, &waiting[i], answers);
    fill(turns, busy);
    for (size_t i = 0; i < MANY; i++) assert_false(ask(turns, &waiting[i]));
}

static void end_all(struct turns *turns, struct asker *askers, size_t count) {
    turns_stop(turns);
    for (size_t i = 0; i < count; i++) turns_end(turns, &askers[i].turn);
}

static void few_never_wait(void **state) {
    (void)state;
    struct turns *turns = turns_new(AN_HOUR_MS, resume);
    struct asker one = {0}, others[TURNS_FREE - 1] = {0};
    for (size_t i = 0; i < TURNS_FREE - 1; i++) ask_and_be_answered(turns, &others[i], 1);
    for (size_t i = 0; i < TURNS_FREE - 1; i++) assert_true(ask(turns, &others[i]));
    ask_and_be_answered(turns, &one, 10000);
    end_all(turns, others, TURNS_FREE - 1);
    turns_free(turns);
}

static void who_comes_anew_never_waits(void **state) {
    (void)state;
    struct turns *turns = turns_new(AN_HOUR_MS, resume);
    struct asker busy[TURNS_FREE] = {0}, fresh = {0}, again = {0};
    ask_and_be_answered(turns, &again, 1);
    fill(turns, busy);
    assert_false(ask(turns, &again));
    assert_true(ask(turns, &fresh));
    turns_end(turns, &fresh.turn);
    turns_end(turns, &again.turn);
    again.turn.since_ms = steady_ms() - TURN_PAUSE_MS;
    assert_true(ask(turns, &again));
    turns_end(turns, &again.turn);
    end_all(turns, busy, TURNS_FREE);
    turns_free(turns);
}

// Those who wait with a place, of `count`.
static size_t count_resumed(const struct asker *askers, size_t count) {
    size_t resumed = 0;
    for (size_t i = 0; i < count; i++) resumed += askers[i].is_resumed;
    return resumed;
}

static void some_at_a_time_and_the_next_when_one_is_done(void **state) {
    (void)state;
    struct turns *turns = turns_new(AN_HOUR_MS, resume);
    struct asker busy[TURNS_FREE] = {0}, waiting[MANY] = {0};
    fill_and_wait(turns, busy, waiting, 1);
    assert_int_equal(count_resumed(waiting, MANY), TURNS_AT_ONCE);
    for (size_t i = 0; i < MANY - TURNS_AT_ONCE; i++) {
        assert_false(waiting[TURNS_AT_ONCE + i].is_resumed);
        turns_end(turns, &waiting[i].turn);
        assert_true(waiting[TURNS_AT_ONCE + i].is_resumed);
    }
    assert_int_equal(turns_waiting(turns), 0);
    end_all(turns, waiting, MANY);
    end_all(turns, busy, TURNS_FREE);
    turns_free(turns);
}

static void who_had_few_answers_goes_first(void **state) {
    (void)state;
    struct turns *turns = turns_new(AN_HOUR_MS, resume);
    struct asker busy[TURNS_FREE] = {0}, greedy[MANY] = {0}, modest = {0};
    ask_and_be_answered(turns, &modest, 3);
    fill_and_wait(turns, busy, greedy, 40);
    assert_false(ask(turns, &modest));
    turns_end(turns, &greedy[0].turn);
    assert_true(modest.is_resumed);
    assert_int_equal(count_resumed(greedy, MANY), TURNS_AT_ONCE);
    end_all(turns, greedy, MANY);
    turns_end(turns, &modest.turn);
    end_all(turns, busy, TURNS_FREE);
    turns_free(turns);
}

static void slow_readers_keep_no_place(void **state) {
    (void)state;
    struct turns *turns = turns_new(TURN_MS, resume);
    struct asker busy[TURNS_FREE] = {0}, waiting[MANY] = {0};
    fill_and_wait(turns, busy, waiting, 1);
    while (turns_waiting(turns)) sched_yield();  // though nobody ends
    assert_int_equal(count_resumed(waiting, MANY), MANY);
    end_all(turns, waiting, MANY);
    end_all(turns, busy, TURNS_FREE);
    turns_free(turns);
}

static void nobody_waits_when_the_server_stops(void **state) {
    (void)state;
    struct turns *turns = turns_new(AN_HOUR_MS, resume);
    struct asker busy[TURNS_FREE] = {0}, waiting[MANY] = {0};
    fill_and_wait(turns, busy, waiting, 1);
    turns_stop(turns);
    assert_int_equal(turns_waiting(turns), 0);
    assert_int_equal(count_resumed(waiting, MANY), MANY);
    turns_end(turns, &waiting[0].turn);
    assert_true(ask(turns, &waiting[0]));  // and nobody begins to
    end_all(turns, waiting, MANY);
    end_all(turns, busy, TURNS_FREE);
    turns_free(turns);
}

static void who_was_about_to_wait_does_not_either(void **state) {
    (void)state;
    struct turns *turns = turns_new(AN_HOUR_MS, resume);
    struct asker busy[TURNS_FREE] = {0}, waiting[MANY] = {0}, late = {.turn.context = &late};
    ask_and_be_answered(turns, &late, 1);
    fill_and_wait(turns, busy, waiting, 1);
    assert_false(turns_ask(turns, &late.turn));
    turns_stop(turns);
    late.is_resumed = false;
    turns_wait(turns, &late.turn);
    assert_true(late.is_resumed);
    turns_end(turns, &late.turn);
    end_all(turns, waiting, MANY);
    end_all(turns, busy, TURNS_FREE);
    turns_free(turns);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_never_wait),
        cmocka_unit_test(who_comes_anew_never_waits),
        cmocka_unit_test(some_at_a_time_and_the_next_when_one_is_done),
        cmocka_unit_test(who_had_few_answers_goes_first),
        cmocka_unit_test(slow_readers_keep_no_place),
        cmocka_unit_test(nobody_waits_when_the_server_stops),
        cmocka_unit_test(who_was_about_to_wait_does_not_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
