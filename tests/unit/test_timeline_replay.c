#include "analysis/profile/questions/timeline_summary.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/timeline_build.h"

static const struct timeline_tells TELLS_ALL = {true, true};

static struct timeline_build build_of(const struct timeline_build_event *events, uint32_t count) {
    struct timeline_build b;
    timeline_build_init(&b, count);
    for (uint32_t i = 0; i < count; i++) timeline_build_add(&b, events[i]);
    return b;
}

// Replays from `row` on and compares with the differences of each of `count` rows.
static void assert_differences(struct timeline_build *b, uint32_t row, uint32_t count, const int64_t *heap,
                               const int64_t *stack) {
    struct timeline_replay replay;
    timeline_replay_begin(&replay, &b->profile, &b->timeline, TELLS_ALL, row);
    assert_int_equal(count, b->timeline.count);
    for (uint32_t i = row; i < count; i++) {
        struct timeline_difference difference = timeline_replay_step(&replay);
        assert_int_equal(difference.heap_bytes, heap[i]);
        assert_int_equal(difference.stack_bytes, stack ? stack[i] : 0);
    }
}

static void the_picture_of_the_header(void **state) {
    (void)state;
    struct timeline_build b = build_of((struct timeline_build_event[]){{.heap = 110, .allocated = 10},
                                                                       {.heap = 115, .allocated = 5},
                                                                       {.heap = 100, .allocated = 10, .is_free = true},
                                                                       {.heap = 112, .allocated = 7}},
                                       4);
    for (uint32_t row = 0; row < 4; row++) assert_differences(&b, row, 4, (int64_t[]){0, 0, -5, 5}, NULL);
    struct timeline_summary summary;
    timeline_summary_make(&b.profile, &b.timeline, &summary);
    assert_int_equal(summary.unreplayed_events, 2);
    assert_int_equal(summary.unreplayed_most_bytes, 5);
    assert_int_equal(summary.held_at_begin_bytes, 100);
    timeline_build_free(&b);
}

static void events_that_cross_are_told_and_cancel_out(void **state) {
    (void)state;
    // In truth 100, then 200, then 50: the first two are reported the other way round.
    struct timeline_build b = build_of((struct timeline_build_event[]){{.heap = 1000, .allocated = 1},
                                                                       {.heap = 1300, .allocated = 200},
                                                                       {.heap = 1100, .allocated = 100},
                                                                       {.heap = 1350, .allocated = 50}},
                                       4);
    assert_differences(&b, 0, 4, (int64_t[]){0, 100, -300, 200}, NULL);
    timeline_build_free(&b);
}

static void the_stack_is_moved_by_no_event(void **state) {
    (void)state;
    struct timeline_build b = build_of((struct timeline_build_event[]){{.heap = 10, .stack = 4, .allocated = 10},
                                                                       {.heap = 15, .stack = 9, .allocated = 10}},
                                       2);
    assert_differences(&b, 0, 2, (int64_t[]){0, -5}, (int64_t[]){0, 5});
    struct timeline_summary summary;
    timeline_summary_make(&b.profile, &b.timeline, &summary);
    assert_int_equal(summary.unreplayed_events, 1);  // though stack + heap adds up
    timeline_build_free(&b);
}

static void events_without_state_count_for_the_next(void **state) {
    (void)state;
    struct timeline_build b = build_of((struct timeline_build_event[]){{.allocated = 1, .is_stateless = true},
                                                                       {.heap = 50, .allocated = 5},
                                                                       {.allocated = 20, .is_stateless = true},
                                                                       {.allocated = 3, .is_stateless = true},
                                                                       {.heap = 80, .allocated = 7}},
                                       5);
    for (uint32_t row = 0; row < 5; row++) assert_differences(&b, row, 5, (int64_t[]){0, 0, 0, 0, 0}, NULL);
    b.timeline.heap_bytes[4] = 85;
    for (uint32_t row = 0; row < 5; row++) assert_differences(&b, row, 5, (int64_t[]){0, 0, 0, 0, 5}, NULL);
    struct timeline_summary summary;
    timeline_summary_make(&b.profile, &b.timeline, &summary);
    assert_int_equal(summary.stateless_events, 3);
    assert_int_equal(summary.held_at_begin_bytes, 44);
    assert_int_equal(summary.peak_row, 4);
    timeline_build_free(&b);
}

static void a_free_without_a_size_has_that_of_its_allocation(void **state) {
    (void)state;
    struct timeline_build b = build_of((struct timeline_build_event[]){{.heap = 10, .allocated = 10},
                                                                       {.heap = 40, .allocated = 30},
                                                                       {.heap = 30, .is_free = true}},
                                       3);
    assert_differences(&b, 0, 3, (int64_t[]){0, 0, -10}, NULL);
    timeline_build_pair(&b, 0, 2);
    assert_differences(&b, 0, 3, (int64_t[]){0, 0, 0}, NULL);
    timeline_build_free(&b);
}

static void an_allocator_of_zeros_is_not_compared(void **state) {
    (void)state;
    struct timeline_build b = build_of((struct timeline_build_event[]){{.allocated = 10}, {.allocated = 30}}, 2);
    struct timeline_summary summary;
    timeline_summary_make(&b.profile, &b.timeline, &summary);
    assert_int_equal(summary.unreplayed_events, 0);
    assert_int_equal(summary.held_at_begin_bytes, 0);
    assert_int_equal(summary.held_at_end_bytes, 40);
    assert_false(summary.tells.usage);
    timeline_build_free(&b);
}

static void sums_and_counts_are_of_all_events(void **state) {
    (void)state;
    struct timeline_build b = build_of(
        (struct timeline_build_event[]){{.heap = 60, .allocated = 10, .free = 40, .peak = 90},
                                        {.heap = 90, .allocated = 30, .free = 10, .peak = 95},
                                        {.heap = 80, .allocated = 10, .free = 20, .peak = 95, .is_free = true},
                                        {.heap = 90, .allocated = 10, .free = 10, .peak = 93},
                                        {.heap = 40, .allocated = 50, .free = 60, .peak = 93, .is_free = true}},
        5);
    timeline_build_pair(&b, 0, 2);
    struct timeline_summary summary;
    timeline_summary_make(&b.profile, &b.timeline, &summary);
    assert_int_equal(summary.allocations, 3);
    assert_int_equal(summary.frees, 2);
    assert_int_equal(summary.peak_row, 1);  // the first of the two
    assert_int_equal(summary.last_row, 4);
    assert_int_equal(summary.lifetime_peak_bytes, 95);
    assert_int_equal(summary.allocated_bytes, 50);
    assert_int_equal(summary.held_at_begin_bytes, 50);
    assert_int_equal(summary.held_at_end_bytes, 40);
    assert_int_equal(summary.held_allocations, 2);
    assert_int_equal(summary.unreplayed_events, 0);
    timeline_build_free(&b);
}

static void hostile_sizes_stay_in_range(void **state) {
    (void)state;
    static const int64_t numbers[] = {INT64_MIN, INT64_MAX, -1, 0, INT64_MIN + 1, 1};
    struct timeline_build b;
    struct timeline_summary summary;
    uint64_t random = 77;
    timeline_build_init(&b, 2000);
    for (int i = 0; i < 2000; i++) {
        uint64_t r = timeline_build_random(&random);
        timeline_build_add(&b, (struct timeline_build_event){.heap = numbers[r % 6],
                                                             .stack = numbers[r / 6 % 6],
                                                             .allocated = numbers[r / 36 % 6],
                                                             .is_free = r >> 40 & 1,
                                                             .is_stateless = (r >> 41) % 3 == 0});
    }
    timeline_summary_make(&b.profile, &b.timeline, &summary);
    assert_int_equal(summary.allocations + summary.frees, 2000);
    assert_int_equal(summary.unreplayed_most_bytes, INT64_MAX);
    assert_in_range(summary.unreplayed_events, 1, 1999 - summary.stateless_events);
    timeline_build_free(&b);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_picture_of_the_header),
        cmocka_unit_test(events_that_cross_are_told_and_cancel_out),
        cmocka_unit_test(the_stack_is_moved_by_no_event),
        cmocka_unit_test(events_without_state_count_for_the_next),
        cmocka_unit_test(a_free_without_a_size_has_that_of_its_allocation),
        cmocka_unit_test(an_allocator_of_zeros_is_not_compared),
        cmocka_unit_test(sums_and_counts_are_of_all_events),
        cmocka_unit_test(hostile_sizes_stay_in_range),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
