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
    item->saves_bytes = 1000 - item->predicted_total_bytes;
}

static const struct advice_plan *plan(struct fixture *f) {
    advice_plan_for(&f->advice, f->capacity_bytes);
    return &f->advice.plan;
}

static void of_two_changes_that_fit_the_gentler_is_planned(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 800);
    offer(&f, ADVICE_HALVE_BATCH, 400, 300);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_SHARD_PARAMETERS, 50, 600);
    assert_true(plan(&f)->is_needed && f.advice.plan.fits);
    assert_int_equal(f.advice.plan.count, 1);
    assert_int_equal(f.advice.plan.ids[0], ADVICE_DONATE_INPUTS);
    assert_int_equal(f.advice.plan.predicted_total_bytes, 800);
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
        cmocka_unit_test(of_two_changes_that_fit_the_gentler_is_planned),
        cmocka_unit_test(one_hard_change_comes_before_two_gentle_ones),
        cmocka_unit_test(two_changes_multiply_what_each_leaves),
        cmocka_unit_test(changes_that_exclude_each_other_are_not_joined),
        cmocka_unit_test(a_change_that_does_not_apply_is_not_planned),
        cmocka_unit_test(a_program_of_just_the_capacity_needs_no_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
