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

static void check_scope(const char *op_name, bool has_stars, const char *expected) {
    struct arena arena;
    arena_init(&arena, 0);
    struct bytes scope = op_name_scope(bytes_of(op_name), has_stars, &arena);
    assert_int_equal(scope.size, strlen(expected));
    assert_memory_equal(scope.data, expected, scope.size);
    arena_free(&arena);
}

static void test_scope(void **state) {
    (void)state;
    check_scope("jit(step)/transpose(jvp(Model))/h/3/checkpoint/attn/dot_general", false, "Model/h/3/attn");
    check_scope("jit(step)/transpose(jvp(Model))/h/3/checkpoint/attn/dot_general", true, "Model/h/*/attn");
    check_scope("jit(train_step)/jvp(jit(log_softmax))/sub", true, "log_softmax");
    check_scope("jit(step)/jvp()/dot_general", true, "dot_general");
    check_scope("jit(step)/jvp()/while/body/closed_call/layers_12/mlp/add", true, "layers_*/mlp");
    check_scope("jit(step)/conv2d/gpt2/mul", true, "conv2d/gpt2");
    check_scope("jit(fold_in)", true, "fold_in");
    check_scope("model/dense_1/MatMul", false, "model/dense_1");
    check_scope("", true, "");
    check_scope("/", true, "");
    check_scope("a)(/b", false, "a)(/b");
    check_scope("jit(", true, "jit(");
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
        cmocka_unit_test(test_scope),
        cmocka_unit_test(test_contains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
