#include "analysis/advice/unsqueezed.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

// Buffers 1 to 6 of 100 bytes, defined by a, a.remat, a.remat2, b, c.remat (no copy is made of it) and d; 7 by b too.
static const char *const NAMES[] = {"a", "a.remat", "a.remat2", "b", "c.remat", "d"};
enum { BUFFERS = sizeof NAMES / sizeof NAMES[0], BYTES_EACH = 100 };

struct fixture {
    struct hlo_build build;
    struct arena arena;
    struct hlo_module module;
    struct heap_events before, after;
    struct heap_replay replay;
    struct error error;
};

// `text` is a trace: "A1 S4=1 F1" for ALLOC, SHARE_WITH and FREE.
static void unsqueeze(struct fixture *f, const char *text) {
    *f = (struct fixture){0};
    for (int64_t id = 1; id <= BUFFERS; id++) {
        hlo_build_instruction(&f->build, id, NAMES[id - 1], 1);
        hlo_build_buffer(&f->build, id, id, BYTES_EACH, 0);
    }
    hlo_build_buffer(&f->build, BUFFERS + 1, 4, BYTES_EACH, 0);
    hlo_build_events(&f->build, text);
    hlo_build_end_trace(&f->build);
    arena_init(&f->arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&f->build), &f->arena, &f->module, &f->error));
    f->before = (struct heap_events){f->module.events, f->module.event_count};
    assert_true(unsqueezed_events(&f->module, f->before, false, &f->arena, &f->after));
}

static void expect_curve(struct fixture *f, const int64_t *bytes) {
    assert_true(heap_replay_run(&f->module, f->after, NULL, &f->arena, &f->replay, &f->error));
    for (uint32_t i = 0; i <= f->replay.step_count; i++) assert_int_equal(f->replay.heap_bytes[i], bytes[i]);
    arena_free(&f->arena);
    hlo_build_free(&f->build);
}

static void an_original_is_there_until_its_last_copy_goes(void **state) {
    (void)state;
    struct fixture f;
    unsqueeze(&f, "A1 F1 A4 A2 F2 A3 F4 F3");
    expect_curve(&f, (int64_t[]){0, 100, 100, 200, 200, 200, 200, 100, 0});
}

static void what_shared_an_original_that_is_needed_again_has_bytes_of_its_own(void **state) {
    (void)state;
    struct fixture f;
    unsqueeze(&f, "A1 S4=1 F1 A2 F2 F4");
    expect_curve(&f, (int64_t[]){0, 100, 200, 200, 200, 100, 0});
}

static void what_shares_the_last_copy_goes_on_in_it(void **state) {
    (void)state;
    struct fixture f;
    unsqueeze(&f, "A1 F1 A2 S4=2 F2 A6 F6 F4");
    expect_curve(&f, (int64_t[]){0, 100, 100, 100, 100, 100, 200, 100, 0});
}

static void a_program_without_copies_is_as_it_was(void **state) {
    (void)state;
    struct fixture f;
    unsqueeze(&f, "A1 A5 F1 F5");
    assert_ptr_equal(f.after.events, f.before.events);
    expect_curve(&f, (int64_t[]){0, 100, 200, 100, 0});
}

static void arrays_of_one_instruction_are_no_copies(void **state) {
    (void)state;
    struct fixture f;
    unsqueeze(&f, "A4 A7 F4 F7");
    assert_ptr_equal(f.after.events, f.before.events);
    expect_curve(&f, (int64_t[]){0, 100, 200, 100, 0});
}

// The second array of fusion, of which fusion.remat makes one alone, and fusion.remat2 again.
static void a_copy_may_make_one_of_several_arrays(void **state) {
    (void)state;
    struct fixture f = {0};
    hlo_build_instruction(&f.build, 1, "fusion", 1);
    hlo_build_instruction(&f.build, 2, "fusion.remat", 1);
    hlo_build_instruction(&f.build, 3, "fusion.remat2", 1);
    hlo_build_part(&f.build, 1, 1, 1, BYTES_EACH, 0);
    hlo_build_buffer(&f.build, 2, 2, BYTES_EACH, 0);
    hlo_build_buffer(&f.build, 3, 3, BYTES_EACH, 0);
    hlo_build_events(&f.build, "A1 F1 A2 F2 A3 F3");
    hlo_build_end_trace(&f.build);
    arena_init(&f.arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&f.build), &f.arena, &f.module, &f.error));
    f.before = (struct heap_events){f.module.events, f.module.event_count};
    assert_true(unsqueezed_events(&f.module, f.before, false, &f.arena, &f.after));  // the second is the first's
    assert_ptr_not_equal(f.after.events, f.before.events);
    assert_true(unsqueezed_events(&f.module, f.before, true, &f.arena, &f.after));
    expect_curve(&f, (int64_t[]){0, 100, 100, 100, 100, 100, 0});
}

// A hostile trace may free what is not there: whoever replays it hears of that.
static void events_of_unknown_buffers_stay(void **state) {
    (void)state;
    struct fixture f;
    unsqueeze(&f, "F2 A1 F1 S9=8 A2 F2 F2");
    assert_int_equal(f.after.count, f.before.count);
    assert_false(heap_replay_run(&f.module, f.after, NULL, &f.arena, &f.replay, &f.error));
    arena_free(&f.arena);
    hlo_build_free(&f.build);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_original_is_there_until_its_last_copy_goes),
        cmocka_unit_test(what_shared_an_original_that_is_needed_again_has_bytes_of_its_own),
        cmocka_unit_test(what_shares_the_last_copy_goes_on_in_it),
        cmocka_unit_test(a_program_without_copies_is_as_it_was),
        cmocka_unit_test(arrays_of_one_instruction_are_no_copies),
        cmocka_unit_test(a_copy_may_make_one_of_several_arrays),
        cmocka_unit_test(events_of_unknown_buffers_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
