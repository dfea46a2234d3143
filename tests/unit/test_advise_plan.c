#include "analysis/advice/advice.h"

#include "tests/unit/cmocka_all.h"

// A program of 400 indefinite and 600 temporary bytes, and what each change would leave of them.
struct fixture {
    struct advice advice;
    int64_t capacity_bytes;
};

static void start(struct fixture *f, int64_t capacity_bytes) {
    *f = (struct fixture){.advice = {.total_bytes = 1000, .indefinite_bytes = 400}, .capacity_bytes = capacity_bytes};
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        f->advice.items[id] = (struct advice_item){.id = (enum advice_id)id, .predicted_total_bytes = 1000};
    }
}

static void offer(struct fixture *f, enum advice_id id, int64_t indefinite_bytes, int64_t temporary_bytes) {
    struct advice_item *item = &f->advice.items[id];
    item->applies = true;
    item->predicted_indefinite_bytes = indefinite_bytes;
    item->predicted_total_bytes = indefinite_bytes + temporary_bytes;
    item->low_bytes = item->high_bytes = item->predicted_total_bytes;
    item->saves_bytes = 1000 - item->predicted_total_bytes;
}

static const struct advice_plan *plan(struct fixture *f) {
    advice_plan_for(&f->advice, f->capacity_bytes);
    return &f->advice.plan;
}

static void give_range(struct fixture *f, enum advice_id id, int64_t low_bytes, int64_t high_bytes) {
    f->advice.items[id].low_bytes = low_bytes;
    f->advice.items[id].high_bytes = high_bytes;
}

static void no_single_change_that_fits_leaves_less_than_the_plan(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 800);
    offer(&f, ADVICE_HALVE_BATCH, 400, 300);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_SHARD_PARAMETERS, 50, 600);
    assert_true(plan(&f)->is_needed && f.advice.plan.fits);
    assert_int_equal(f.advice.plan.count, 1);
    assert_int_equal(f.advice.plan.ids[0], ADVICE_SHARD_PARAMETERS);
    assert_int_equal(f.advice.plan.predicted_total_bytes, 650);
}

static void beside_a_plan_that_shards_stands_the_gentlest_that_does_not(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 800);
    offer(&f, ADVICE_HALVE_BATCH, 400, 300);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_SHARD_PARAMETERS, 50, 600);
    f.advice.items[ADVICE_SHARD_PARAMETERS].ways = 4;
    assert_int_equal(plan(&f)->ways, 4);
    assert_int_equal(f.advice.without_sharding.count, 1);
    assert_int_equal(f.advice.without_sharding.ids[0], ADVICE_DONATE_INPUTS);
    assert_int_equal(f.advice.without_sharding.predicted_total_bytes, 800);
    offer(&f, ADVICE_HALVE_BATCH, 300, 300);
    assert_int_equal(plan(&f)->ids[0], ADVICE_HALVE_BATCH);
    assert_int_equal(f.advice.without_sharding.count, 0);
}

static void one_more_change_is_worth_it_when_only_then_the_range_fits(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 800);
    offer(&f, ADVICE_SHARD_ALL, 300, 450);
    give_range(&f, ADVICE_SHARD_ALL, 700, 850);
    assert_int_equal(plan(&f)->count, 1);
    assert_int_equal(advice_fit_of(f.advice.plan.low_bytes, f.advice.plan.high_bytes, 800), ADVICE_MAY_FIT);
    offer(&f, ADVICE_DONATE_INPUTS, 300, 600);
    assert_int_equal(plan(&f)->count, 2);
    assert_int_equal(advice_fit_of(f.advice.plan.low_bytes, f.advice.plan.high_bytes, 800), ADVICE_FITS);
    assert_true(f.advice.plan.low_bytes < f.advice.plan.predicted_total_bytes);
}

static void a_range_that_holds_the_capacity_may_fit(void **state) {
    (void)state;
    assert_int_equal(advice_fit_of(5, 9, 0), ADVICE_FIT_UNKNOWN);
    assert_int_equal(advice_fit_of(5, 9, 9), ADVICE_FITS);
    assert_int_equal(advice_fit_of(5, 9, 8), ADVICE_MAY_FIT);
    assert_int_equal(advice_fit_of(5, 9, 5), ADVICE_MAY_FIT);
    assert_int_equal(advice_fit_of(5, 9, 4), ADVICE_TOO_BIG);
}

// --- A property, over programs and changes of every sort ---

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static void offer_any(struct fixture *f, uint32_t *seed) {
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
        if (next_random(seed) % 3 == 0) continue;
        offer(f, (enum advice_id)id, next_random(seed) % 450, next_random(seed) % 700);
        struct advice_item *item = &f->advice.items[id];
        item->low_bytes -= next_random(seed) % (item->low_bytes + 1) / 4;
        item->high_bytes += next_random(seed) % 200;
        item->ways = id == ADVICE_SHARD_ALL || id == ADVICE_SHARD_PARAMETERS ? 4 : 0;
    }
}

static void check_plan(const struct fixture *f, const struct advice_plan *told, bool is_bound_by_singles) {
    assert_true(told->predicted_total_bytes <= f->capacity_bytes);
    assert_true(told->low_bytes <= told->predicted_total_bytes && told->predicted_total_bytes <= told->high_bytes);
    for (int id = 0; is_bound_by_singles && id < ADVICE_ID_COUNT; id++) {
        const struct advice_item *item = &f->advice.items[id];
        bool fits = item->applies && item->saves_bytes > 0 && item->predicted_total_bytes <= f->capacity_bytes;
        assert_true(!fits || told->predicted_total_bytes <= item->predicted_total_bytes);
    }
}

static void every_plan_fits_and_loses_to_no_single_change(void **state) {
    (void)state;
    uint32_t seed = 10, planned = 0, others = 0;
    for (int i = 0; i < 300; i++) {
        struct fixture f;
        start(&f, 100 + next_random(&seed) % 900);
        offer_any(&f, &seed);
        if (plan(&f)->count) check_plan(&f, &f.advice.plan, true), planned++;
        if (!f.advice.without_sharding.count) continue;
        check_plan(&f, &f.advice.without_sharding, false);
        assert_int_equal(f.advice.without_sharding.ways, 0);
        assert_true(f.advice.plan.ways > 0);
        others++;
    }
    assert_true(planned > 200 && others > 20);
}

static void one_hard_change_comes_before_two_gentle_ones(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 700);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_REMATERIALIZE, 400, 450);
    offer(&f, ADVICE_SHARD_PARAMETERS, 100, 600);
    assert_int_equal(plan(&f)->count, 1);
    assert_int_equal(f.advice.plan.ids[0], ADVICE_SHARD_PARAMETERS);
}

static void two_changes_multiply_what_each_leaves(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 650);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_REMATERIALIZE, 400, 450);
    assert_int_equal(plan(&f)->count, 2);
    assert_true(f.advice.plan.fits);
    assert_int_equal(f.advice.plan.predicted_total_bytes, 650);
}

static void changes_that_exclude_each_other_are_not_joined(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 600);
    offer(&f, ADVICE_SHARD_ALL, 300, 500);
    offer(&f, ADVICE_SHARD_PARAMETERS, 100, 600);
    assert_true(plan(&f)->is_needed);
    assert_false(f.advice.plan.fits);
    assert_int_equal(f.advice.plan.count, 0);
    assert_int_equal(f.advice.plan.predicted_total_bytes, 1000);
}

static void a_change_that_does_not_apply_is_not_planned(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 800);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    f.advice.items[ADVICE_DONATE_INPUTS].applies = false;
    assert_false(plan(&f)->fits);
}

static void a_program_of_just_the_capacity_needs_no_plan(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 1000);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    assert_false(plan(&f)->is_needed);
    assert_true(f.advice.plan.fits);
    assert_int_equal(f.advice.plan.count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_single_change_that_fits_leaves_less_than_the_plan),
        cmocka_unit_test(beside_a_plan_that_shards_stands_the_gentlest_that_does_not),
        cmocka_unit_test(one_more_change_is_worth_it_when_only_then_the_range_fits),
        cmocka_unit_test(a_range_that_holds_the_capacity_may_fit),
        cmocka_unit_test(every_plan_fits_and_loses_to_no_single_change),
        cmocka_unit_test(one_hard_change_comes_before_two_gentle_ones),
        cmocka_unit_test(two_changes_multiply_what_each_leaves),
        cmocka_unit_test(changes_that_exclude_each_other_are_not_joined),
        cmocka_unit_test(a_change_that_does_not_apply_is_not_planned),
        cmocka_unit_test(a_program_of_just_the_capacity_needs_no_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
