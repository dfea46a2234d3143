// What JAX's op_names tell: names as libtpu kept them.
#include "analysis/program/op_name.h"

#include "tests/unit/cmocka_all.h"

static enum phase phase_of(const char *text) {
    return op_name_phase(bytes_of(text));
}

static void test_phases(void **state) {
    (void)state;
    assert_int_equal(phase_of("jit(step)/jvp()/dot_general"), PHASE_FORWARD);
    assert_int_equal(phase_of("jit(train_step)/jvp(attention)/sub"), PHASE_FORWARD);
    assert_int_equal(phase_of("jit(step)/transpose(jvp())/dot_general"), PHASE_BACKWARD);
    assert_int_equal(phase_of("jit(train_step)/transpose(jvp(jit(log_softmax)))/reduce_sum"), PHASE_BACKWARD);
    assert_int_equal(phase_of("jit(step)/sub"), PHASE_OTHER);
    assert_int_equal(phase_of(""), PHASE_OTHER);
    assert_int_equal(phase_of("jvp"), PHASE_OTHER);
}

static void test_primitive(void **state) {
    (void)state;
    assert_true(
        bytes_equal(op_name_primitive(BYTES("jit(f)/jvp()/convert_element_type")), BYTES("convert_element_type")));
    assert_true(bytes_equal(op_name_primitive(BYTES("slice")), BYTES("slice")));
    assert_int_equal(op_name_primitive(BYTES("jit(f)/")).size, 0);
}

static void test_contains(void **state) {
    (void)state;
    assert_true(bytes_contains(BYTES("aab"), BYTES("ab")));
    assert_false(bytes_contains(BYTES("aa"), BYTES("ab")));
    assert_false(bytes_contains((struct bytes){0}, BYTES("a")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_phases),
        cmocka_unit_test(test_primitive),
        cmocka_unit_test(test_contains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
