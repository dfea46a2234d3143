#include "analysis/memory/heap_replay.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

// Buffers 1 to 4 of 100, 200, 400 and 800 bytes; `text` is a trace: "A1 S3=1 F1" for ALLOC, SHARE_WITH and FREE.
struct fixture {
    struct hlo_build build;
    struct arena arena;
    struct hlo_module module;
    struct heap_replay replay;
    struct error error;
    bool is_good;
};

static void replay(struct fixture *f, const char *text) {
    *f = (struct fixture){0};
    hlo_build_instruction(&f->build, 1, "op", 1);
    for (int64_t id = 1; id <= 4; id++) hlo_build_buffer(&f->build, id, 1, 50 << id, 0);
    hlo_build_events(&f->build, text);
    hlo_build_end_trace(&f->build);
    arena_init(&f->arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&f->build), &f->arena, &f->module, &f->error));
    struct heap_events events = {f->module.events, f->module.event_count};
    f->is_good = heap_replay_run(&f->module, events, NULL, &f->arena, &f->replay, &f->error);
}

static void done(struct fixture *f) {
    arena_free(&f->arena);
    hlo_build_free(&f->build);
}

static void expect_curve(const struct heap_replay *replay, const int64_t *bytes) {
    for (uint32_t i = 0; i <= replay->step_count; i++) assert_int_equal(replay->heap_bytes[i], bytes[i]);
}

static void expect_span(const struct heap_replay *replay, uint32_t i, uint32_t buffer, uint32_t start, uint32_t end) {
    assert_int_equal(replay->spans[i].buffer, buffer);
    assert_int_equal(replay->spans[i].start_step, start);
    assert_int_equal(replay->spans[i].end_step, end);
}

static void the_curve_is_what_is_live_before_each_event(void **state) {
    (void)state;
    struct fixture f;
    replay(&f, "A1 A2 F1 A3 F2");
    assert_true(f.is_good);
    expect_curve(&f.replay, (int64_t[]){0, 100, 300, 200, 600, 400});
    assert_int_equal(f.replay.peak_bytes, 600);
    assert_int_equal(f.replay.peak_position, 3);
    assert_int_equal(f.replay.live_at_peak_count, 2);
    assert_int_equal(f.replay.live_at_peak[0], 1);
    assert_int_equal(f.replay.live_at_peak[1], 2);
    expect_span(&f.replay, 0, 0, 0, 2);
    expect_span(&f.replay, 1, 1, 1, 4);
    expect_span(&f.replay, 2, 2, 3, 5);  // never freed: to the end
    done(&f);
}

static void the_peak_is_the_earliest_maximum(void **state) {
    (void)state;
    struct fixture f;
    replay(&f, "A1 F1 A1 F1");
    assert_true(f.is_good);
    assert_int_equal(f.replay.peak_position, 0);
    done(&f);
}

static void sharers_keep_the_bytes_and_add_none(void **state) {
    (void)state;
    struct fixture f;
    replay(&f, "A2 S1=2 F2 F1");
    assert_true(f.is_good);
    expect_curve(&f.replay, (int64_t[]){0, 200, 200, 200, 0});
    assert_int_equal(f.replay.span_count, 1);
    expect_span(&f.replay, 0, 1, 0, 3);  // the bytes go with the last sharer
    done(&f);
}

static void sharing_freed_bytes_takes_them_again(void **state) {
    (void)state;
    struct fixture f;
    replay(&f, "A2 F2 S1=2 S3=2 F1 F3");
    assert_true(f.is_good);
    expect_curve(&f.replay, (int64_t[]){0, 200, 0, 200, 200, 200, 0});
    assert_int_equal(f.replay.span_count, 2);
    expect_span(&f.replay, 1, 0, 2, 5);
    assert_true(f.replay.spans[1].is_shared);
    assert_int_equal(f.replay.spans[1].own_end_step, 4);
    done(&f);
}

static void expect_error(const char *text, const char *part) {
    struct fixture f;
    replay(&f, text);
    assert_false(f.is_good);
    assert_int_equal(f.error.code, ERROR_MALFORMED);
    assert_non_null(strstr(f.error.message, part));
    done(&f);
}

static void impossible_traces_are_refused(void **state) {
    (void)state;
    expect_error("F1", "frees logical buffer 1, which is not live");
    expect_error("A1 F1 F1", "event 2 frees logical buffer 1");
    expect_error("S1=2 S2=3 S2=1 F1", "cycle");
}

static void unknown_buffers_are_steps_without_effect(void **state) {
    (void)state;
    struct fixture f;
    replay(&f, "A1 A9 F9 S2=9 F1");
    assert_true(f.is_good);
    expect_curve(&f.replay, (int64_t[]){0, 100, 100, 100, 100, 0});
    done(&f);
}

static void a_buffer_sharing_with_itself_is_no_cycle(void **state) {
    (void)state;
    struct fixture f;
    replay(&f, "A1 S1=1 F1 F1");
    assert_true(f.is_good);
    expect_curve(&f.replay, (int64_t[]){0, 100, 100, 100, 0});
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_curve_is_what_is_live_before_each_event),
        cmocka_unit_test(the_peak_is_the_earliest_maximum),
        cmocka_unit_test(sharers_keep_the_bytes_and_add_none),
        cmocka_unit_test(sharing_freed_bytes_takes_them_again),
        cmocka_unit_test(impossible_traces_are_refused),
        cmocka_unit_test(unknown_buffers_are_steps_without_effect),
        cmocka_unit_test(a_buffer_sharing_with_itself_is_no_cycle),
    };
    return cmocka_run_group_tests_name("heap_replay", tests, NULL, NULL);
}
