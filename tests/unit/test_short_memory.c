#include "analysis/advice/short_memory.h"

#include "tests/unit/cmocka_all.h"

static const int64_t MIB = 1 << 20;

// What libtpu 0.0.52 did with programs for a v5e is in short_memory.h.
static void a_v5e_is_short_between_what_was_seen(void **state) {
    (void)state;
    assert_in_range(short_memory_bytes(13708 * MIB, 0), 13468 * MIB, 13708 * MIB);
    assert_int_equal(short_memory_bytes(19503 * MIB, 0), short_memory_bytes(13708 * MIB, 0));
}

static void more_is_too_much_for_a_larger_chip(void **state) {
    (void)state;
    assert_in_range(short_memory_bytes(30000 * MIB, 0), 25000 * MIB, 30000 * MIB);
    assert_in_range(short_memory_bytes(30000 * MIB, 30000 * MIB), 25000 * MIB, 30000 * MIB);
    assert_in_range(short_memory_bytes(30000 * MIB, 26000 * MIB), 13468 * MIB, 13708 * MIB);
    assert_int_equal(short_memory_bytes(1000 * MIB, 0), 0);
    assert_int_equal(short_memory_bytes(0, 0), 0);
}

static void what_was_squeezed_fills_its_chip(void **state) {
    (void)state;
    assert_true(short_memory_is_filled(14126 * MIB));
    assert_true(short_memory_is_filled(17149 * MIB));
    assert_false(short_memory_is_filled(13000 * MIB));
    assert_false(short_memory_is_filled(26149 * MIB));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_v5e_is_short_between_what_was_seen),
        cmocka_unit_test(what_was_squeezed_fills_its_chip),
        cmocka_unit_test(more_is_too_much_for_a_larger_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
