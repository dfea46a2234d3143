// What the programs of a session keep while they are loaded: order, sums and words, by hand.
#include "analysis/oom/oom_loaded.h"

#include <string.h>

#include "tests/unit/cmocka_all.h"

#define MIB ((int64_t)1 << 20)
#define GIB ((int64_t)1 << 30)

static struct arena arena;

static struct memory_totals totals_of(int64_t constants, int64_t temporaries) {
    struct memory_totals totals = {.total_bytes = 50 * GIB};
    totals.bytes[ALLOCATION_PARAMETER] = 40 * GIB;
    totals.bytes[ALLOCATION_CONSTANT] = constants;
    totals.bytes[ALLOCATION_TEMPORARY] = temporaries;
    return totals;
}

static struct oom_message message_of(int64_t requested, int64_t free) {
    struct oom_message message = oom_message_empty(OOM_PROGRAM_LOAD);
    message.requested_bytes = requested;
    message.free_bytes = free;
    return message;
}

// Constants of 1, 2 and 4 MiB, temporaries of 1, 3 and 9 GiB; the second is the one that found no room.
static struct oom_loaded three(int64_t requested, int64_t free) {
    static struct oom_loaded_program programs[3];
    struct memory_totals a = totals_of(1 * MIB, 1 * GIB), b = totals_of(2 * MIB, 3 * GIB),
                         c = totals_of(4 * MIB, 9 * GIB);
    programs[0] = oom_loaded_program_of("jit_a(1)", &a, false);
    programs[1] = oom_loaded_program_of("jit_b(2)", &b, true);
    programs[2] = oom_loaded_program_of("jit_c(3)", &c, false);
    struct oom_loaded loaded = {.session = "s", .host = "", .programs = programs, .count = 3};
    struct oom_message message = message_of(requested, free);
    oom_loaded_sum(&message, &arena, &loaded);
    return loaded;
}

static bool says(const struct oom_loaded *loaded, const char *words) {
    for (size_t i = 0; i < loaded->note_count; i++) {
        if (strstr(loaded->notes[i], words)) return true;
    }
    return false;
}

static void constants_and_temporaries_are_kept_and_arrays_are_not(void **state) {
    (void)state;
    struct oom_loaded loaded = three(3 * GIB, 0);
    assert_string_equal(loaded.programs[0].module, "jit_c(3)");
    assert_string_equal(loaded.programs[2].module, "jit_a(1)");
    assert_int_equal(loaded.programs[0].size_bytes, 9 * GIB + 4 * MIB);
    assert_int_equal(loaded.evicting_low_bytes, 5 * MIB);
    assert_int_equal(loaded.evicting_high_bytes, 10 * GIB + 5 * MIB);
    assert_int_equal(loaded.merging_high_bytes, 4 * GIB);
    assert_true(says(&loaded, "Evicting the other 2 frees between 5.00 MiB (constants) and 10.00 GiB"));
    assert_true(says(&loaded, "frees at most 4.00 GiB"));
    assert_true(says(&loaded, "not measured"));
}

static void one_other_has_no_number(void **state) {
    (void)state;
    static struct oom_loaded_program programs[2];
    struct memory_totals a = totals_of(MIB, GIB), b = totals_of(MIB, 3 * GIB);
    programs[0] = oom_loaded_program_of("jit_a(1)", &a, false);
    programs[1] = oom_loaded_program_of("jit_b(2)", &b, true);
    struct oom_loaded loaded = {.session = "s", .host = "", .programs = programs, .count = 2};
    struct oom_message message = message_of(3 * GIB, GIB);
    oom_loaded_sum(&message, &arena, &loaded);
    assert_true(says(&loaded, "Evicting the other one frees between 1.00 MiB (constants)"));
}

static void whether_it_is_enough_follows_from_both_ends(void **state) {
    (void)state;
    struct oom_loaded sure = three(3 * GIB, 3 * GIB - 5 * MIB), maybe = three(3 * GIB, GIB), no = three(20 * GIB, GIB);
    assert_true(says(&sure, "that is enough for the 3.00 GiB"));
    assert_true(says(&maybe, "that may be enough for the 3.00 GiB"));
    assert_true(says(&no, "that is not enough for the 20.00 GiB that were asked for: arrays hold the rest."));
    struct oom_loaded pieces = three(3 * GIB, 4 * GIB), untold = three(OOM_ABSENT, 4 * GIB);
    assert_true(says(&pieces, "4.00 GiB are free already, but in pieces"));
    assert_false(says(&untold, "enough"));
}

static struct oom_loaded one_alone(size_t unread) {
    static struct oom_loaded_program only;
    struct memory_totals totals = totals_of(MIB, GIB);
    only = oom_loaded_program_of("jit_a(1)", &totals, true);
    struct oom_loaded loaded = {.session = "s", .host = "", .programs = &only, .count = 1, .unread = unread};
    struct oom_message message = message_of(3 * GIB, GIB);
    oom_loaded_sum(&message, &arena, &loaded);
    return loaded;
}

static void one_program_alone_has_none_to_evict(void **state) {
    (void)state;
    struct oom_loaded loaded = one_alone(0);
    assert_int_equal(loaded.evicting_high_bytes, 0);
    assert_int_equal(loaded.merging_high_bytes, 0);
    assert_true(says(&loaded, "no other program"));
    assert_false(says(&loaded, "could not be read"));
}

static void what_could_not_be_read_may_be_evicted(void **state) {
    (void)state;
    struct oom_loaded loaded = one_alone(2);
    assert_false(says(&loaded, "no other program"));
    assert_true(says(&loaded, "2 more could not be read"));
}

static void sums_that_leave_the_range_stay_at_its_end(void **state) {
    (void)state;
    struct memory_totals most = totals_of(INT64_MAX / 2, INT64_MAX - 1);
    struct oom_loaded_program two[2] = {oom_loaded_program_of("jit_a(1)", &most, false),
                                        oom_loaded_program_of("jit_b(2)", &most, false)};
    struct oom_loaded loaded = {.session = "s", .host = "", .programs = two, .count = 2};
    struct oom_message message = message_of(GIB, 0);
    oom_loaded_sum(&message, &arena, &loaded);
    assert_true(two[0].size_bytes == INT64_MAX && loaded.evicting_high_bytes == INT64_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_and_temporaries_are_kept_and_arrays_are_not),
        cmocka_unit_test(one_other_has_no_number),
        cmocka_unit_test(whether_it_is_enough_follows_from_both_ends),
        cmocka_unit_test(one_program_alone_has_none_to_evict),
        cmocka_unit_test(what_could_not_be_read_may_be_evicted),
        cmocka_unit_test(sums_that_leave_the_range_stay_at_its_end),
    };
    arena_init(&arena, 1 << 20);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    arena_free(&arena);
    return failed;
}
