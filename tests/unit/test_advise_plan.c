#include "analysis/advice/advice_cost.h"

#include "tests/unit/cmocka_all.h"

// A program of 400 indefinite and 600 temporary bytes, and what each change would leave of them.
struct fixture {
    struct advice advice;
    int64_t capacity_bytes;
    struct advice_together together[ADVICE_ALL];
};

static void start(struct fixture *f, int64_t capacity_bytes) {
    *f = (struct fixture){.advice = {.total_bytes = 1000, .indefinite_bytes = 400, .partitions = 1},
                          .capacity_bytes = capacity_bytes};
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
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

// The totals of two changes and more, as advise_together would tell them: here each of them leaves the same part of
// what it touches, whatever the others do.
static void join_all(struct fixture *f) {
    f->advice.together = f->together;
    f->advice.together_count = 0;
    for (unsigned set = 1; set <= ADVICE_ALL; set++) {
        double indefinite = 400, temporary = 600;
        if (advice_set_is_single(set) || !advice_set_is_sensible(&f->advice, set)) continue;
        for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
            const struct advice_item *item = &f->advice.items[id];
            if (!advice_set_has(set, item->id)) continue;
            indefinite *= (double)item->predicted_indefinite_bytes / 400;
            temporary *= (double)(item->predicted_total_bytes - item->predicted_indefinite_bytes) / 600;
        }
        f->together[f->advice.together_count++] = (struct advice_together){set, (int64_t)(indefinite + temporary)};
    }
}

static const struct advice_plan *plan(struct fixture *f) {
    join_all(f);
    advice_plan_for(&f->advice, f->capacity_bytes);
    return &f->advice.plan;
}

static void give_range(struct fixture *f, enum advice_id id, int64_t low_bytes, int64_t high_bytes) {
    f->advice.items[id].low_bytes = low_bytes;
    f->advice.items[id].high_bytes = high_bytes;
}

static unsigned set_of(const struct advice_plan *told) {
    unsigned set = 0;
    for (size_t i = 0; i < told->count; i++) set |= 1u << told->steps[i].id;
    return set;
}

static void the_cheapest_set_that_fits_is_the_plan(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 800);
    offer(&f, ADVICE_HALVE_BATCH, 400, 300);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_SHARD_PARAMETERS, 50, 600);
    assert_true(plan(&f)->is_needed && f.advice.plan.fits);
    assert_int_equal(set_of(&f.advice.plan), 1u << ADVICE_DONATE_INPUTS);
    assert_int_equal(f.advice.plan.predicted_total_bytes, 800);
}

static void shards_over_more_chips_than_the_program_has_cost_most(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 700);
    offer(&f, ADVICE_BF16_PARAMETERS, 200, 450);
    offer(&f, ADVICE_SHARD_PARAMETERS, 50, 600);
    f.advice.items[ADVICE_SHARD_PARAMETERS].ways = 4;
    assert_int_equal(set_of(plan(&f)), 1u << ADVICE_BF16_PARAMETERS);
    assert_int_equal(f.advice.alternative_count, 1);
    assert_int_equal(f.advice.alternatives[0].kind, ADVICE_SAME_NUMERICS);
    f.advice.partitions = 4;
    assert_int_equal(set_of(plan(&f)), 1u << ADVICE_SHARD_PARAMETERS);
    assert_int_equal(plan(&f)->ways, 4);
    assert_int_equal(f.advice.alternatives[0].kind, ADVICE_WITHOUT_SHARDING);
    assert_int_equal(set_of(&f.advice.without_sharding), 1u << ADVICE_BF16_PARAMETERS);
}

static void a_plan_that_is_slower_and_alters_numbers_stands_beside_those_that_do_not(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 700);
    offer(&f, ADVICE_HALVE_BATCH, 400, 250);
    offer(&f, ADVICE_BF16_PARAMETERS, 150, 500);
    offer(&f, ADVICE_HOST_OFFLOAD_OPTIMIZER, 50, 600);
    assert_int_equal(set_of(plan(&f)), 1u << ADVICE_HALVE_BATCH);
    assert_int_equal(f.advice.alternative_count, 2);
    assert_int_equal(f.advice.alternatives[0].kind, ADVICE_SAME_NUMERICS);
    assert_int_equal(set_of(&f.advice.alternatives[0]), 1u << ADVICE_HOST_OFFLOAD_OPTIMIZER);
    assert_int_equal(f.advice.alternatives[1].kind, ADVICE_SAME_SPEED);
    assert_int_equal(set_of(&f.advice.alternatives[1]), 1u << ADVICE_BF16_PARAMETERS);
}

static void a_range_that_fits_comes_before_one_that_may(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 800);
    offer(&f, ADVICE_REMATERIALIZE, 300, 450);
    give_range(&f, ADVICE_REMATERIALIZE, 700, 850);
    assert_int_equal(plan(&f)->count, 1);
    assert_int_equal(advice_fit_of(f.advice.plan.low_bytes, f.advice.plan.high_bytes, 800), ADVICE_MAY_FIT);
    offer(&f, ADVICE_DONATE_INPUTS, 300, 600);
    assert_int_equal(plan(&f)->count, 2);
    assert_int_equal(advice_fit_of(f.advice.plan.low_bytes, f.advice.plan.high_bytes, 800), ADVICE_FITS);
    assert_true(f.advice.plan.low_bytes < f.advice.plan.predicted_total_bytes);
    assert_int_equal(f.advice.alternative_count, 1);
    assert_int_equal(set_of(&f.advice.alternatives[0]), 1u << ADVICE_REMATERIALIZE);
}

static void each_step_is_the_total_with_all_changes_so_far(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 450);
    offer(&f, ADVICE_HALVE_BATCH, 400, 300);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_REMATERIALIZE, 400, 400);
    const struct advice_step *steps = plan(&f)->steps;
    assert_int_equal(f.advice.plan.count, 3);
    const enum advice_id order[] = {ADVICE_DONATE_INPUTS, ADVICE_REMATERIALIZE, ADVICE_HALVE_BATCH};
    const int64_t totals[] = {800, 600, 400};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(steps[i].id, order[i]);
        assert_int_equal(steps[i].predicted_total_bytes, totals[i]);
        assert_int_equal(steps[i].saves_bytes, 200);
    }
}

// In four parts it does not fit, in eight it does: that costs less than a second change, which would do as well.
static void a_plan_takes_as_many_parts_as_it_needs(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 520);
    offer(&f, ADVICE_MICRO_BATCH, 400, 160);
    offer(&f, ADVICE_MICRO_BATCH_TWICE, 400, 90);
    offer(&f, ADVICE_MICRO_BATCH_FOUR_TIMES, 400, 50);
    offer(&f, ADVICE_REMATERIALIZE, 400, 420);
    f.advice.items[ADVICE_MICRO_BATCH_TWICE].parts = 8;
    assert_int_equal(set_of(plan(&f)), 1u << ADVICE_MICRO_BATCH_TWICE);
    assert_int_equal(f.advice.plan.steps[0].parts, 8);
    advice_plan_for(&f.advice, 560);
    assert_int_equal(set_of(&f.advice.plan), 1u << ADVICE_MICRO_BATCH);
    advice_plan_for(&f.advice, 450);
    assert_int_equal(set_of(&f.advice.plan), 1u << ADVICE_MICRO_BATCH_FOUR_TIMES);
    assert_false(advice_set_is_sensible(&f.advice, 1u << ADVICE_MICRO_BATCH | 1u << ADVICE_MICRO_BATCH_TWICE));
}

static void chains_need_no_capacity(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 0);
    offer(&f, ADVICE_HALVE_BATCH, 400, 300);
    offer(&f, ADVICE_BF16_PARAMETERS, 200, 600);
    offer(&f, ADVICE_REMATERIALIZE, 400, 400);
    assert_int_equal(plan(&f)->count, 0);
    assert_int_equal(f.advice.chain_count, 1);
    assert_int_equal(set_of(&f.advice.chains[0]), 1u << ADVICE_BF16_PARAMETERS | 1u << ADVICE_HALVE_BATCH);
    assert_int_equal(f.advice.chains[0].predicted_total_bytes, 500);
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
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        if (next_random(seed) % 3 == 0) continue;
        offer(f, (enum advice_id)id, next_random(seed) % 450, next_random(seed) % 700);
        struct advice_item *item = &f->advice.items[id];
        item->low_bytes -= next_random(seed) % (item->low_bytes + 1) / 4;
        item->high_bytes += next_random(seed) % 200;
        item->ways = id == ADVICE_SHARD_ALL || id == ADVICE_SHARD_PARAMETERS ? 4 : 0;
    }
}

static bool does_fit(const struct fixture *f, unsigned set, bool is_sure) {
    int64_t bytes = is_sure ? advice_set_range(&f->advice, set).high_bytes : advice_set_total(&f->advice, set);
    return set && bytes <= f->capacity_bytes;
}

static bool is_sure(const struct fixture *f, const struct advice_plan *told) {
    return told->high_bytes <= f->capacity_bytes;
}

static void check_waterfall(const struct fixture *f, const struct advice_plan *told) {
    int64_t before = f->advice.total_bytes;
    for (size_t i = 0; i < told->count; before = told->steps[i++].predicted_total_bytes)
        assert_int_equal(told->steps[i].saves_bytes, before - told->steps[i].predicted_total_bytes);
    assert_int_equal(before, told->predicted_total_bytes);
}

// Each change is needed: no part of it fits as it does.
static void check_told(const struct fixture *f, const struct advice_plan *told) {
    unsigned set = set_of(told);
    assert_true(told->predicted_total_bytes <= f->capacity_bytes);
    assert_true(told->low_bytes <= told->predicted_total_bytes && told->predicted_total_bytes <= told->high_bytes);
    for (unsigned part = (set - 1) & set; part; part = (part - 1) & set)
        assert_false(does_fit(f, part, is_sure(f, told)));
    check_waterfall(f, told);
}

// No other set that fits as surely is cheaper.
static void check_cheapest(const struct fixture *f) {
    const struct advice_plan *told = &f->advice.plan;
    for (unsigned set = 1; set <= ADVICE_ALL; set++) {
        if (!advice_set_is_sensible(&f->advice, set) || advice_set_total(&f->advice, set) == INT64_MAX) continue;
        assert_true(is_sure(f, told) || !does_fit(f, set, true));
        assert_true(!does_fit(f, set, is_sure(f, told)) ||
                    advice_cost_points(advice_cost_of(&f->advice, set)) >= advice_cost_points(told->cost));
    }
}

static bool is_silly_beside(const struct fixture *f, const struct advice_plan *a, const struct advice_plan *b) {
    return is_sure(f, b) >= is_sure(f, a) && a->predicted_total_bytes >= b->predicted_total_bytes &&
           a->cost.numerics >= b->cost.numerics && a->cost.speed >= b->cost.speed && a->cost.work >= b->cost.work &&
           a->cost.chips >= b->cost.chips;
}

static void check_alternatives(const struct fixture *f) {
    const struct advice *advice = &f->advice;
    for (size_t i = 0; i < advice->alternative_count; i++) {
        check_told(f, &advice->alternatives[i]);
        assert_false(is_silly_beside(f, &advice->alternatives[i], &advice->plan));
        assert_false(is_silly_beside(f, &advice->plan, &advice->alternatives[i]));
        for (size_t j = 0; j < advice->alternative_count; j++)
            assert_true(i == j || !is_silly_beside(f, &advice->alternatives[i], &advice->alternatives[j]));
    }
}

static void no_plan_of_any_program_is_silly(void **state) {
    (void)state;
    uint32_t seed = 10, planned = 0, others = 0, long_ones = 0;
    for (int i = 0; i < 300; i++) {
        struct fixture f;
        start(&f, 100 + next_random(&seed) % 900);
        offer_any(&f, &seed);
        if (!plan(&f)->count) continue;
        check_told(&f, &f.advice.plan);
        check_cheapest(&f);
        check_alternatives(&f);
        planned++;
        others += f.advice.alternative_count > 0;
        long_ones += f.advice.plan.count > 1;
    }
    assert_true(planned > 200 && others > 100 && long_ones > 50);
}

static void two_changes_are_told_as_they_were_joined(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 650);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_REMATERIALIZE, 400, 450);
    assert_int_equal(plan(&f)->count, 2);
    assert_true(f.advice.plan.fits);
    assert_int_equal(f.advice.plan.predicted_total_bytes, 650);
    f.together[0].predicted_total_bytes = 640;
    advice_plan_for(&f.advice, f.capacity_bytes);
    assert_int_equal(f.advice.plan.predicted_total_bytes, 640);
}

static void where_none_fits_the_nearest_is_told(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 300);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_REMATERIALIZE, 400, 300);
    offer(&f, ADVICE_HALVE_BATCH, 400, 597);  // a hundredth of the capacity is not worth halving the batch
    assert_true(plan(&f)->is_needed && !f.advice.plan.fits && f.advice.plan.count == 0);
    assert_int_equal(set_of(&f.advice.nearest), 1u << ADVICE_DONATE_INPUTS | 1u << ADVICE_REMATERIALIZE);
    assert_int_equal(f.advice.nearest.predicted_total_bytes, 500);
    assert_true(f.advice.nearest.is_needed && !f.advice.nearest.fits);
    check_waterfall(&f, &f.advice.nearest);
    advice_plan_for(&f.advice, 500);
    assert_true(f.advice.plan.fits && f.advice.nearest.count == 0);
}

// 800 of 1000 bytes are divided: 4 chips save 600.
static void chips_are_a_power_of_two_that_divides_the_batch(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 320);
    offer(&f, ADVICE_SHARD_ALL, 100, 300);
    f.advice.items[ADVICE_SHARD_ALL].ways = 4;
    f.advice.batch = 24;
    plan(&f);
    assert_int_equal(f.advice.least_ways, 8);
    assert_int_equal(f.advice.least_ways_bytes, 300);
    advice_plan_for(&f.advice, 400);
    assert_int_equal(f.advice.least_ways, 4);
    f.advice.batch = 12;
    advice_plan_for(&f.advice, 320);
    assert_int_equal(f.advice.least_ways, 0);
    f.advice.batch = 0;  // not known
    advice_plan_for(&f.advice, 210);
    assert_int_equal(f.advice.least_ways, 128);
    advice_plan_for(&f.advice, 200);  // what is on every chip
    assert_int_equal(f.advice.least_ways, 0);
    advice_plan_for(&f.advice, 1000);
    assert_int_equal(f.advice.least_ways, 0);
}

static void of_a_program_on_several_chips_no_number_is_told(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 320);
    offer(&f, ADVICE_SHARD_ALL, 100, 300);
    f.advice.items[ADVICE_SHARD_ALL].ways = 4;
    f.advice.batch = 24;
    plan(&f);
    assert_int_equal(f.advice.least_ways, 8);
    f.advice.partitions = 8;
    advice_plan_for(&f.advice, 320);
    assert_int_equal(f.advice.least_ways, 0);
}

static void a_set_that_was_not_asked_is_no_plan(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 650);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_REMATERIALIZE, 400, 450);
    advice_plan_for(&f.advice, f.capacity_bytes);
    assert_int_equal(f.advice.plan.count, 0);
    assert_int_equal(f.advice.chain_count, 0);
    assert_false(f.advice.plan.fits);
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

static void how_far_off_two_changes_are_adds_up_in_squares(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 0);
    offer(&f, ADVICE_DONATE_INPUTS, 200, 600);
    offer(&f, ADVICE_HALVE_BATCH, 400, 300);
    give_range(&f, ADVICE_DONATE_INPUTS, 800 - 240, 800 + 80);  // 30 % down, 10 % up
    give_range(&f, ADVICE_HALVE_BATCH, 700 - 280, 700);         // 40 % down
    join_all(&f);
    struct advice_range range = advice_set_range(&f.advice, 1u << ADVICE_DONATE_INPUTS | 1u << ADVICE_HALVE_BATCH);
    assert_in_range(range.low_bytes, 249, 251);   // of 500, sqrt(30^2 + 40^2) = 50 %
    assert_in_range(range.high_bytes, 549, 551);  // 10 %
}

static void of_two_totals_the_first_has_a_least_of_its_own(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 0);
    offer(&f, ADVICE_BF16_PARAMETERS, 200, 600);
    offer(&f, ADVICE_HALVE_BATCH, 400, 300);
    unsigned both = 1u << ADVICE_BF16_PARAMETERS | 1u << ADVICE_HALVE_BATCH;
    give_range(&f, ADVICE_BF16_PARAMETERS, 800 - 400, 800 + 32);  // half, where the step follows; 4 % up
    give_range(&f, ADVICE_HALVE_BATCH, 700 - 28, 700 + 28);
    join_all(&f);
    assert_int_equal(advice_set_range(&f.advice, both).kept_low_bytes, 0);
    f.advice.items[ADVICE_BF16_PARAMETERS].kept_low_bytes = 800 - 32;
    struct advice_range range = advice_set_range(&f.advice, both);
    assert_in_range(range.low_bytes, 247, 250);       // of 500, sqrt(50^2 + 4^2) = 50.2 %
    assert_in_range(range.kept_low_bytes, 474, 477);  // both narrow: 4.9 %
    assert_in_range(range.high_bytes, 523, 526);
    assert_int_equal(advice_set_range(&f.advice, 1u << ADVICE_BF16_PARAMETERS).kept_low_bytes, 800 - 32);
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
        cmocka_unit_test(the_cheapest_set_that_fits_is_the_plan),
        cmocka_unit_test(shards_over_more_chips_than_the_program_has_cost_most),
        cmocka_unit_test(a_plan_that_is_slower_and_alters_numbers_stands_beside_those_that_do_not),
        cmocka_unit_test(a_range_that_fits_comes_before_one_that_may),
        cmocka_unit_test(each_step_is_the_total_with_all_changes_so_far),
        cmocka_unit_test(a_plan_takes_as_many_parts_as_it_needs),
        cmocka_unit_test(chains_need_no_capacity),
        cmocka_unit_test(a_range_that_holds_the_capacity_may_fit),
        cmocka_unit_test(no_plan_of_any_program_is_silly),
        cmocka_unit_test(two_changes_are_told_as_they_were_joined),
        cmocka_unit_test(where_none_fits_the_nearest_is_told),
        cmocka_unit_test(chips_are_a_power_of_two_that_divides_the_batch),
        cmocka_unit_test(of_a_program_on_several_chips_no_number_is_told),
        cmocka_unit_test(a_set_that_was_not_asked_is_no_plan),
        cmocka_unit_test(changes_that_exclude_each_other_are_not_joined),
        cmocka_unit_test(a_change_that_does_not_apply_is_not_planned),
        cmocka_unit_test(how_far_off_two_changes_are_adds_up_in_squares),
        cmocka_unit_test(of_two_totals_the_first_has_a_least_of_its_own),
        cmocka_unit_test(a_program_of_just_the_capacity_needs_no_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
