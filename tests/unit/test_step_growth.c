#include "analysis/profile/questions/step_growth.h"

#include <stdio.h>

#include "tests/unit/cmocka_all.h"
#include "tests/unit/memory_story.h"

static struct step_growth growth_of(struct story *s) {
    struct step_growth growth;
    assert_true(step_growth_make(&s->build.profile, &s->build.timeline, &s->arena, &growth, &s->error));
    return growth;
}

static const struct growth_op *find(const struct step_growth *growth, const char *op) {
    for (uint32_t i = 0; i < growth->op_count; i++) {
        if (bytes_equal(growth->ops[i].op, bytes_of(op))) return &growth->ops[i];
    }
    return NULL;
}

static void expect_held(const struct growth_op *op, const int64_t *held, uint32_t count) {
    assert_non_null(op);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(op->held_bytes[i], held[i]);
}

// "Relu" keeps 1000 bytes a step, "Assign" replaces its one, "Warm" grows in the first steps, "MatMul" frees all.
static void tell_leak(struct story *s, int steps) {
    uint32_t assigned = MEMORY_EVENT_NONE;
    for (int i = 0; i < steps; i++) {
        int64_t begin_ps = s->time_ps;
        s->step = i;
        uint32_t product = story_alloc(s, "MatMul", 5000);
        story_alloc(s, "Relu", 1000);
        uint32_t before = assigned;
        assigned = story_alloc(s, "Assign", 700);
        if (before != MEMORY_EVENT_NONE) story_free(s, before);
        if (i == 1) story_alloc(s, "Warm", 90000);
        story_free(s, product);
        story_root(s, i, "train", begin_ps, s->time_ps - 1);
    }
}

static void the_op_that_keeps_its_allocations_is_named(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 100);
    tell_leak(&s, 6);
    struct step_growth growth = growth_of(&s);
    const struct growth_op *worst = step_growth_worst(&growth);
    assert_non_null(worst);
    assert_true(bytes_equal(worst->op, BYTES("Relu")));
    assert_int_equal(growth.leak_count, 1);
    expect_held(worst, (int64_t[]){1000, 2000, 3000, 4000, 5000, 6000}, 6);
    assert_true(worst->slope_bytes == 1000);
    assert_int_equal(worst->steps_growing, 5);
    assert_int_equal(worst->least_growth_bytes, 1000);
    assert_int_equal(worst->held_at_end_bytes, 6000);
    assert_int_equal(worst->held_at_end_count, 6);
    assert_int_equal(worst->first_step, 0);
    assert_int_equal(worst->last_step, 5);
    expect_held(find(&growth, "Assign"), (int64_t[]){700, 700, 700, 700, 700, 700}, 6);
    expect_held(find(&growth, "Warm"), (int64_t[]){0, 90000, 90000, 90000, 90000, 90000}, 6);
    assert_false(find(&growth, "Warm")->is_leak);
    assert_int_equal(find(&growth, "Warm")->least_growth_bytes, 0);
    assert_null(find(&growth, "MatMul"));  // holds nothing at any step's end
    story_done(&s);
}

static void three_steps_are_too_few(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 100);
    tell_leak(&s, 3);
    struct step_growth growth = growth_of(&s);
    assert_null(step_growth_worst(&growth));
    assert_true(find(&growth, "Relu")->slope_bytes == 1000);
    story_done(&s);
}

static void growth_that_does_not_matter_is_no_leak(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 100);
    story_alloc(&s, "weights", 10000001);  // a tenth of it is more than 1000 steps of 1000 bytes
    tell_leak(&s, 6);
    struct step_growth growth = growth_of(&s);
    assert_null(step_growth_worst(&growth));
    story_done(&s);
    story_begin(&s, 100);
    story_alloc(&s, "weights", 9800000);
    tell_leak(&s, 6);
    growth = growth_of(&s);
    assert_non_null(step_growth_worst(&growth));
    story_done(&s);
}

static void growth_in_half_of_the_steps_is_no_leak(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 100);
    for (s.step = 0; s.step < 10; s.step++) {
        if (s.step % 2) story_alloc(&s, "sometimes", 100);
        story_free(&s, story_alloc(&s, "always", 1));
    }
    struct step_growth growth = growth_of(&s);
    assert_null(step_growth_worst(&growth));
    assert_int_equal(find(&growth, "sometimes")->steps_growing, 5);
    assert_int_equal(find(&growth, "sometimes")->first_step, 1);
    story_done(&s);
}

static void steps_stand_in_order_of_their_ends(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 100);
    s.heap_bytes = 50;
    story_root(&s, 1, "late", 0, 100);
    story_root(&s, 2, "early", 0, 15);
    story_root(&s, 3, "before all", -20, -10);
    s.step = 2;
    story_alloc(&s, "a", 1);  // at 0
    s.step = 1;
    uint32_t row = story_alloc(&s, "a", 2);  // at 10
    s.step = 9;
    story_alloc(&s, "a", 4);  // at 20
    story_free(&s, row);      // at 30
    struct step_growth growth = growth_of(&s);
    static const int64_t ids[] = {3, 2, 9, 1}, ends[] = {-10, 15, 30, 100}, heaps[] = {50, 53, 55, 55};
    static const int64_t held[] = {0, 3, 5, 5}, peaks[] = {50, 51, 57, 53};
    assert_int_equal(growth.steps.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct memory_step *step = &growth.steps.steps[i];
        assert_int_equal(step->id, ids[i]);
        assert_int_equal(step->end_ps, ends[i]);
        assert_int_equal(step->heap_at_end_bytes, heaps[i]);
        assert_int_equal(step->held_bytes, held[i]);
        assert_int_equal(step->peak_bytes, peaks[i]);
    }
    assert_int_equal(growth.steps.steps[2].allocations, 1);
    assert_int_equal(growth.steps.steps[2].frees, 1);
    assert_int_equal(growth.steps.steps[2].begin_ps, 20);
    assert_int_equal(growth.held_at_end_bytes, 5);
    story_done(&s);
}

static void frees_of_what_nobody_saw_allocated_move_nothing(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 10);
    story_alloc(&s, "a", 4);
    timeline_build_add(&s.build, (struct timeline_build_event){.time_ps = 20, .is_free = true, .allocated = 9});
    struct step_growth growth = growth_of(&s);
    assert_int_equal(growth.held_at_end_bytes, 4);
    assert_int_equal(growth.steps.steps[0].frees, 1);
    story_done(&s);
}

static void no_event_no_step_no_op(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 1);
    struct step_growth growth = growth_of(&s);
    assert_int_equal(growth.steps.count, 0);
    assert_int_equal(growth.op_count, 0);
    assert_null(step_growth_worst(&growth));
    story_done(&s);
}

// --- Limits ---

static void neighbours_of_many_steps_are_merged(void **state) {
    (void)state;
    enum { STEPS = 2 * STEP_GROWTH_MAX_STEPS + 1 };
    struct story s;
    story_begin(&s, STEPS);
    for (s.step = 0; s.step < STEPS; s.step++) story_alloc(&s, "a", 8);
    struct step_growth growth = growth_of(&s);
    assert_int_equal(growth.all_step_count, STEPS);
    assert_int_equal(growth.merged_per_entry, 3);
    assert_int_equal(growth.steps.count, (STEPS + 2) / 3);
    assert_int_equal(growth.steps.steps[0].id, 2);
    assert_int_equal(growth.steps.steps[0].begin_ps, 0);
    assert_int_equal(growth.steps.steps[0].allocations, 3);
    assert_int_equal(growth.steps.steps[growth.steps.count - 1].id, STEPS - 1);
    assert_int_equal(growth.ops[0].held_bytes[1], 48);
    assert_int_equal(growth.ops[0].held_bytes[growth.steps.count - 1], 8 * STEPS);
    assert_true(growth.ops[0].slope_bytes > 7.999999 && growth.ops[0].slope_bytes < 8.000001);
    story_done(&s);
}

static void the_least_growing_of_many_ops_are_left_out(void **state) {
    (void)state;
    enum { OPS = STEP_GROWTH_MAX_OPS + 5, STEPS = 4 };
    static char names[OPS][16];
    struct story s;
    story_begin(&s, OPS * STEPS);
    for (s.step = 0; s.step < STEPS; s.step++) {
        for (int i = 0; i < OPS; i++) {
            snprintf(names[i], sizeof names[i], "op%d", i);
            story_alloc(&s, names[i], 1 + i);
        }
    }
    struct step_growth growth = growth_of(&s);
    assert_int_equal(growth.op_count, STEP_GROWTH_MAX_OPS);
    assert_int_equal(growth.left_out, 5);
    assert_int_equal(growth.leak_count, OPS - 8);  // those of up to 8 bytes a step do not matter
    assert_true(bytes_equal(growth.ops[0].op, bytes_of(names[OPS - 1])));
    expect_held(&growth.ops[0], (int64_t[]){205, 410, 615, 820}, 4);
    assert_null(find(&growth, "op4"));
    assert_non_null(find(&growth, "op5"));
    story_done(&s);
}

// --- Random stories, counted the slow way ---

static int64_t held_by(const struct story *s, struct bytes op, int64_t end_ps) {
    const struct memory_timeline *t = &s->build.timeline;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < t->count; i++) {
        const struct allocation_site *site = &s->build.profile.sites.sites[t->site[i]];
        bool is_over = t->partner[i] != MEMORY_EVENT_NONE && t->time_ps[t->partner[i]] <= end_ps;
        if (memory_timeline_is_free(t, i) || t->time_ps[i] > end_ps || is_over) continue;
        if (bytes_equal(site->op, op)) sum += (uint64_t)site->allocated_bytes;
    }
    return (int64_t)sum;
}

static double slow_slope(const int64_t *held, uint32_t count) {
    double middle = ((double)count - 1) / 2, above = 0, below = 0;
    for (uint32_t i = 0; i < count; i++) {
        above += (i - middle) * (double)held[i];
        below += (i - middle) * (i - middle);
    }
    return above / below;
}

static void check_op(const struct story *s, const struct step_growth *growth, const struct growth_op *op) {
    uint32_t growing = 0;
    for (uint32_t i = 0; i < growth->steps.count; i++) {
        assert_int_equal(op->held_bytes[i], held_by(s, op->op, growth->steps.steps[i].end_ps));
        growing += i && op->held_bytes[i] > op->held_bytes[i - 1];
    }
    assert_int_equal(op->held_at_end_bytes, held_by(s, op->op, INT64_MAX));
    assert_int_equal(op->steps_growing, growing);
    double slow = slow_slope(op->held_bytes, growth->steps.count), difference = op->slope_bytes - slow;
    assert_true(difference < 1e-6 && difference > -1e-6);
}

static void every_number_is_that_of_the_slow_count(void **state) {
    (void)state;
    static const char *const ops[] = {"", "MatMul", "Relu", "Add"};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        enum { EVENTS = 300 };
        uint64_t random = seed * 0x9e3779b97f4a7c15u;
        uint32_t alive[EVENTS], alive_count = 0;
        struct story s;
        story_begin(&s, EVENTS);
        for (int i = 0; i < EVENTS; i++) {
            uint64_t pick = timeline_build_random(&random) >> 8;
            s.step = i / 25 + (int64_t)(pick % 3);
            if (alive_count && pick % 5 < 2) {
                uint32_t which = (uint32_t)(pick / 5 % alive_count);
                story_free(&s, alive[which]);
                alive[which] = alive[--alive_count];
            } else {
                alive[alive_count++] = story_alloc(&s, ops[pick / 7 % 4], (int64_t)(pick / 29 % 5000));
            }
        }
        story_root(&s, 3, "train", 700, 1200);
        struct step_growth growth = growth_of(&s);
        assert_true(growth.op_count == 4 && growth.steps.count > 10);
        for (uint32_t i = 0; i < growth.op_count; i++) check_op(&s, &growth, &growth.ops[i]);
        story_done(&s);
    }
}

static void hostile_sizes_and_steps_wrap_and_end(void **state) {
    (void)state;
    static const int64_t values[] = {INT64_MIN, INT64_MAX, -1, 0, 1};
    struct story s;
    story_begin(&s, 400);
    for (uint32_t i = 0; i < 200; i++) {
        s.step = values[i % 5];
        uint32_t row = story_alloc(&s, "a", values[i / 5 % 5]);
        if (i % 3) story_free(&s, row);
    }
    story_root(&s, INT64_MAX, "", INT64_MAX, INT64_MIN);
    struct step_growth growth = growth_of(&s);
    assert_int_equal(growth.steps.count, 5);
    assert_int_equal(growth.op_count, 1);
    story_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_op_that_keeps_its_allocations_is_named),
        cmocka_unit_test(three_steps_are_too_few),
        cmocka_unit_test(growth_that_does_not_matter_is_no_leak),
        cmocka_unit_test(growth_in_half_of_the_steps_is_no_leak),
        cmocka_unit_test(steps_stand_in_order_of_their_ends),
        cmocka_unit_test(frees_of_what_nobody_saw_allocated_move_nothing),
        cmocka_unit_test(no_event_no_step_no_op),
        cmocka_unit_test(neighbours_of_many_steps_are_merged),
        cmocka_unit_test(the_least_growing_of_many_ops_are_left_out),
        cmocka_unit_test(every_number_is_that_of_the_slow_count),
        cmocka_unit_test(hostile_sizes_and_steps_wrap_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
