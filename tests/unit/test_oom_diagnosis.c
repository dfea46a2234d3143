// From figures to scenario, cause and fixes: the rules of E1000 and 0101, without a profile.
#include "analysis/oom/oom_diagnose.h"

#include <string.h>

#include "tests/unit/cmocka_all.h"

#define GIB ((int64_t)1 << 30)

static struct arena arena;

static struct oom_diagnosis diagnose(const struct oom_message *message) {
    struct oom_diagnosis diagnosis;
    oom_diagnose(message, NULL, OOM_ABSENT, &arena, &diagnosis);
    assert_true(diagnosis.fix_count > 0);
    return diagnosis;
}

static bool has_fix(const struct oom_diagnosis *diagnosis, const char *id) {
    for (size_t i = 0; i < diagnosis->fix_count; i++) {
        if (strcmp(diagnosis->fixes[i].change.id, id) == 0) return true;
    }
    return false;
}

static struct oom_message hbm(int64_t needed, int64_t capacity) {
    struct oom_message message = oom_message_empty(OOM_COMPILE);
    message.memory_space = "hbm";
    message.needed_bytes = needed;
    message.capacity_bytes = capacity;
    return message;
}

static void test_cores(void **state) {
    (void)state;
    static const struct {
        int64_t dense, sparse;
        const char *first;
        bool has_both;
    } cases[] = {{10, 90, "sparsecore_serialize_tables", false},
                 {90, 10, "halve_batch", false},
                 {50, 50, "sparsecore_serialize_tables", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct oom_message message = oom_message_empty(OOM_TENSORCORE_SPARSECORE);
        message.tensorcore_bytes = cases[i].dense * GIB;
        message.sparsecore_bytes = cases[i].sparse * GIB;
        struct oom_diagnosis diagnosis = diagnose(&message);
        assert_string_equal(diagnosis.scenario, "1");
        assert_string_equal(diagnosis.fixes[0].change.id, cases[i].first);
        bool has_both = has_fix(&diagnosis, "halve_batch") && has_fix(&diagnosis, "sparsecore_prefetch");
        assert_int_equal(has_both, cases[i].has_both);
    }
}

static void test_over_half_of_the_limit(void **state) {
    (void)state;
    struct oom_entry entry = {.size_bytes = 8 * GIB, .unpadded_bytes = 8 * GIB, .shape = "f32[2048]"};
    struct oom_message message = hbm(20 * GIB, 16 * GIB);
    message.entries = &entry;
    message.entry_count = 1;
    assert_string_equal(diagnose(&message).scenario, "3");  // half is not over half
    entry.size_bytes += GIB;
    struct oom_diagnosis diagnosis = diagnose(&message);
    assert_string_equal(diagnosis.scenario, "2");
    assert_non_null(strstr(diagnosis.scenario_reason, "9.00 GiB"));
    assert_string_equal(diagnosis.fixes[0].change.id, "check_sharding");
    entry.op_name = "jit(step)/debug_callback";
    assert_string_equal(diagnose(&message).fixes[0].change.id, "remove_debug_print");
}

static void test_one_allocation_in_a_small_memory_has_no_scenario(void **state) {
    (void)state;
    struct oom_message message = oom_message_empty(OOM_ALLOCATION_EXCEEDS_MEMORY);
    message.requested_bytes = 200 << 20;
    message.capacity_bytes = 128 << 20;
    message.memory_space = "vmem";
    struct oom_diagnosis diagnosis = diagnose(&message);
    assert_null(diagnosis.scenario);
    assert_string_equal(diagnosis.fixes[0].change.id, "smaller_blocks");
    message.memory_space = "hbm";
    assert_string_equal(diagnose(&message).scenario, "2");
}

static void test_letters_of_the_sum(void **state) {
    (void)state;
    static const struct {
        int64_t needed, arguments, temporaries, padded, unpadded;
        const char *scenario;
    } cases[] = {{40, 30, 10, 0, 0, "3B"},
                 {40, 5, 35, 0, 0, "3A"},
                 {17, 3, 14, 0, 0, "3E"},
                 {40, 5, 35, 30, 10, "3C"},
                 {40, 10, 10, 0, 0, "3"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct oom_message message = hbm(cases[i].needed * GIB, 16 * GIB);
        oom_message_add(&message, "arguments", cases[i].arguments * GIB);
        oom_message_add(&message, "HLO temp", cases[i].temporaries * GIB);
        oom_message_add(&message, "HLO temp padded", cases[i].padded * GIB);
        oom_message_add(&message, "HLO temp unpadded", cases[i].unpadded * GIB);
        assert_string_equal(diagnose(&message).scenario, cases[i].scenario);
    }
}

static void test_program_load(void **state) {
    (void)state;
    struct oom_message message = oom_message_empty(OOM_PROGRAM_LOAD);
    assert_null(diagnose(&message).cause);
    message.requested_bytes = 4 * GIB;
    message.free_bytes = 4 * GIB;
    message.reservable_bytes = GIB;
    assert_string_equal(diagnose(&message).cause, "fragmented");
    message.free_bytes--;
    struct oom_diagnosis diagnosis = diagnose(&message);
    assert_string_equal(diagnosis.cause, "program_too_big");
    assert_null(diagnosis.scenario);
    assert_true(has_fix(&diagnosis, "shared_memory_percent") && has_fix(&diagnosis, "log_allocations"));
    assert_true(has_fix(&diagnosis, "release_arrays") && has_fix(&diagnosis, "unload_programs"));
}

static void test_other_memory_spaces_have_no_scenario(void **state) {
    (void)state;
    struct oom_message message = hbm(20, 16);
    message.memory_space = "vmem";
    assert_null(diagnose(&message).scenario);
}

static int set_up(void **state) {
    (void)state;
    arena_init(&arena, 0);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores),
        cmocka_unit_test(test_over_half_of_the_limit),
        cmocka_unit_test(test_one_allocation_in_a_small_memory_has_no_scenario),
        cmocka_unit_test(test_letters_of_the_sum),
        cmocka_unit_test(test_program_load),
        cmocka_unit_test(test_other_memory_spaces_have_no_scenario),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
