#include "analysis/profile/questions/memory_pressure.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/memory_story.h"

#define SECOND PRESSURE_PICOSECONDS

static struct memory_pressure pressure_of(struct story *s) {
    struct memory_pressure pressure;
    assert_true(memory_pressure_make(&s->build.profile, &s->build.timeline, &s->arena, &pressure, &s->error));
    return pressure;
}

// 1000 bytes of which `fragmentation` of the free ones are not in the largest block; then a silence.
static void tell_silence(struct story *s, double fragmentation, int64_t silence_ps) {
    story_begin(s, 300);
    s->capacity_bytes = 1000;
    uint32_t big = story_alloc(s, "Big", 400);
    story_free(s, big);
    s->step = 3;
    story_alloc(s, "Small", 100);
    s->fragmentation = fragmentation;
    story_alloc(s, "Small", 100);
    s->time_ps += silence_ps - 10;
    story_alloc(s, "Small", 100);
}

static void a_silence_with_too_small_a_block_is_a_stall(void **state) {
    (void)state;
    struct story s;
    tell_silence(&s, 0.75, 10 * SECOND);
    struct memory_pressure p = pressure_of(&s);
    assert_int_equal(p.state, PRESSURE_FAILED);
    assert_int_equal(p.moment_count, 1);
    assert_int_equal(p.stall_count, 1);
    assert_int_equal(p.moments[0].kind, PRESSURE_STALL);
    assert_int_equal(p.moments[0].row, 3);
    assert_int_equal(p.moments[0].time_ps, 30);
    assert_int_equal(p.moments[0].until_ps, 30 + 10 * SECOND);
    assert_int_equal(p.moments[0].largest_free_bytes, 200);  // of 800
    assert_true(p.moments[0].is_retry_long);
    assert_false(p.moments[0].is_open);
    assert_int_equal(p.moments[0].step, 3);
    assert_int_equal(p.tightest, 4);
    assert_int_equal(p.tightest_bytes, 175);
    assert_int_equal(p.largest_request, 0);
    assert_int_equal(p.largest_request_bytes, 400);
    assert_int_equal(p.tight_events, 2);
    story_done(&s);
}

static void a_silence_with_room_is_a_pause(void **state) {
    (void)state;
    struct story s;
    tell_silence(&s, 0, 10 * SECOND);
    struct memory_pressure p = pressure_of(&s);
    assert_int_equal(p.state, PRESSURE_ROOMY);
    assert_int_equal(p.moment_count, 1);
    assert_int_equal(p.moments[0].kind, PRESSURE_PAUSE);
    assert_int_equal(p.stall_count, 0);
    story_done(&s);
}

static void the_length_of_a_silence_decides(void **state) {
    (void)state;
    static const struct {
        int64_t silence_ps;
        bool is_moment, is_stall, is_retry_long;
    } cases[] = {{9 * SECOND - 1, false, false, false}, {9 * SECOND, true, true, false},
                 {10 * SECOND - 1, true, true, false},  {11 * SECOND, true, true, true},
                 {11 * SECOND + 1, true, true, false},  {15 * SECOND, true, true, false},
                 {15 * SECOND + 1, true, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct story s;
        tell_silence(&s, 0.75, cases[i].silence_ps);
        struct memory_pressure p = pressure_of(&s);
        assert_int_equal(p.moment_count, cases[i].is_moment);
        assert_int_equal(p.state, cases[i].is_stall ? PRESSURE_FAILED : PRESSURE_TIGHT);
        if (p.moment_count) assert_int_equal(p.moments[0].is_retry_long, cases[i].is_retry_long);
        story_done(&s);
    }
}

static void a_step_that_goes_on_after_the_last_event_ends_the_silence(void **state) {
    (void)state;
    struct story s;
    tell_silence(&s, 0.75, 10);
    int64_t last_ps = s.build.timeline.time_ps[4];
    story_root(&s, 8, "train 8", 0, last_ps + 10 * SECOND);
    struct memory_pressure p = pressure_of(&s);
    assert_int_equal(p.state, PRESSURE_FAILED);
    assert_true(p.moments[0].is_open);
    assert_int_equal(p.moments[0].until_ps, last_ps + 10 * SECOND);
    assert_int_equal(p.moments[0].step, 8);
    assert_true(bytes_equal(p.moments[0].step_name, BYTES("train 8")));
    story_done(&s);
}

static void the_innermost_step_over_the_silence_is_named(void **state) {
    (void)state;
    struct story s;
    tell_silence(&s, 0.75, 10 * SECOND);
    story_root(&s, 6, "outer", 0, 20 * SECOND);
    story_root(&s, 7, "inner", SECOND, 9 * SECOND);
    story_root(&s, 8, "before", 0, SECOND);
    assert_true(bytes_equal(pressure_of(&s).moments[0].step_name, BYTES("inner")));
    story_done(&s);
}

static void an_allocator_without_free_bytes_is_unknown(void **state) {
    (void)state;
    struct story s;
    tell_silence(&s, 0.75, 10 * SECOND);
    for (uint32_t i = 0; i < s.build.timeline.count; i++) s.build.timeline.free_bytes[i] = 0;
    struct memory_pressure p = pressure_of(&s);
    assert_int_equal(p.state, PRESSURE_UNKNOWN);
    assert_int_equal(p.tightest, MEMORY_EVENT_NONE);
    assert_int_equal(p.moment_count, 0);
    story_done(&s);
}

static void events_without_state_say_nothing(void **state) {
    (void)state;
    struct story s;
    tell_silence(&s, 0.75, 10 * SECOND);
    s.build.timeline.flags[3] &= (uint8_t)~MEMORY_EVENT_HAS_STATE;
    s.build.timeline.fragmentation[4] = NAN;  // something is free, but who knows in which pieces
    struct memory_pressure p = pressure_of(&s);
    assert_int_equal(p.state, PRESSURE_ROOMY);
    assert_int_equal(p.moment_count, 0);
    story_done(&s);
}

static void moments_have_a_limit(void **state) {
    (void)state;
    enum { STALLS = MEMORY_PRESSURE_MAX_MOMENTS + 7 };
    struct story s;
    tell_silence(&s, 0.75, 10);
    for (int i = 0; i < STALLS; i++) {
        s.time_ps += 10 * SECOND;
        story_free(&s, story_alloc(&s, "Small", 1));
    }
    struct memory_pressure p = pressure_of(&s);
    assert_int_equal(p.moment_count, MEMORY_PRESSURE_MAX_MOMENTS);
    assert_int_equal(p.left_out, 7);
    assert_int_equal(p.stall_count, STALLS);
    story_done(&s);
}

static void hostile_numbers_end(void **state) {
    (void)state;
    static const int64_t values[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX};
    static const double fractions[] = {-INFINITY, -1, 0, 1e300, NAN};
    struct story s;
    story_begin(&s, 10);
    for (uint32_t i = 0; i < 5; i++) {
        uint32_t row = story_alloc(&s, "a", values[4 - i]);
        s.build.timeline.time_ps[row] = values[i];
        s.build.timeline.free_bytes[row] = values[4 - i];
        s.build.timeline.fragmentation[row] = fractions[i];
        story_root(&s, i, "", values[i], values[4 - i]);
    }
    struct memory_pressure p = pressure_of(&s);
    assert_int_equal(p.tightest_bytes, 0);
    story_done(&s);
}

static void no_event_is_unknown(void **state) {
    (void)state;
    struct story s;
    story_begin(&s, 1);
    struct memory_pressure p = pressure_of(&s);
    assert_int_equal(p.state, PRESSURE_UNKNOWN);
    assert_int_equal(p.largest_request, MEMORY_EVENT_NONE);
    story_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_silence_with_too_small_a_block_is_a_stall),
        cmocka_unit_test(a_silence_with_room_is_a_pause),
        cmocka_unit_test(the_length_of_a_silence_decides),
        cmocka_unit_test(a_step_that_goes_on_after_the_last_event_ends_the_silence),
        cmocka_unit_test(the_innermost_step_over_the_silence_is_named),
        cmocka_unit_test(an_allocator_without_free_bytes_is_unknown),
        cmocka_unit_test(events_without_state_say_nothing),
        cmocka_unit_test(moments_have_a_limit),
        cmocka_unit_test(hostile_numbers_end),
        cmocka_unit_test(no_event_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
