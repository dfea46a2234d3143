// Whether a program is the message's by its size: which of its bytes are compared, and how near they must be.
#include "analysis/oom/oom_match.h"

#include "tests/unit/cmocka_all.h"

#define GIB ((int64_t)1 << 30)

// Arguments of 2 GiB, a constant of 1, temporaries of 9.
static struct memory_totals totals_of_twelve(void) {
    struct memory_totals totals = {.total_bytes = 12 * GIB};
    totals.bytes[ALLOCATION_PARAMETER] = 2 * GIB;
    totals.bytes[ALLOCATION_CONSTANT] = 1 * GIB;
    totals.bytes[ALLOCATION_TEMPORARY] = 9 * GIB;
    return totals;
}

static void a_compiled_program_is_compared_as_a_whole(void **state) {
    (void)state;
    struct memory_totals totals = totals_of_twelve();
    struct oom_message message = oom_message_empty(OOM_COMPILE);
    assert_true(oom_is_size_near(&message, &totals));
    assert_int_equal(oom_size_distance(&message, &totals), OOM_ABSENT);
    message.needed_bytes = 13 * GIB;
    assert_int_equal(oom_size_distance(&message, &totals), GIB);
    assert_true(oom_is_size_near(&message, &totals));
    message.needed_bytes = 10 * GIB;
    assert_false(oom_is_size_near(&message, &totals));
}

static void a_loaded_program_by_what_loading_reserves(void **state) {
    (void)state;
    struct memory_totals totals = totals_of_twelve();
    struct oom_message message = oom_message_empty(OOM_PROGRAM_LOAD);
    assert_true(oom_is_size_near(&message, &totals));
    message.requested_bytes = 10 * GIB + GIB / 2;
    assert_int_equal(oom_size_of(&message, &totals), 10 * GIB);
    assert_int_equal(oom_size_distance(&message, &totals), GIB / 2);
    assert_true(oom_is_size_near(&message, &totals));
    message.requested_bytes = 12 * GIB;
    assert_false(oom_is_size_near(&message, &totals));
    message.requested_bytes = 4 * GIB;
    assert_false(oom_is_size_near(&message, &totals));
}

static void a_gpus_named_program_by_its_temporaries(void **state) {
    (void)state;
    struct memory_totals totals = totals_of_twelve();
    struct oom_message message = oom_message_empty(OOM_GPU_ALLOCATION);
    message.requested_bytes = 12 * GIB;
    assert_true(oom_is_size_near(&message, &totals));
    message.module = "jit_train_step";
    assert_false(oom_is_size_near(&message, &totals));
    message.requested_bytes = 9 * GIB;
    assert_int_equal(oom_size_distance(&message, &totals), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_compiled_program_is_compared_as_a_whole),
        cmocka_unit_test(a_loaded_program_by_what_loading_reserves),
        cmocka_unit_test(a_gpus_named_program_by_its_temporaries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
