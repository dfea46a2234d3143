// The line of code of a change, filled in with the names of a program's inputs.
#include "analysis/advice/change_code.h"

#include <string.h>

#include "analysis/advice/change.h"

#include "tests/unit/cmocka_all.h"

enum { INPUTS_MAX = 4 };

// Of a step with inputs of these names, of which all but the last are returned updated.
static const char *code_of(const char *const *op_names, uint32_t count, struct arena *arena) {
    struct entry_input inputs[INPUTS_MAX];
    struct graph_node nodes[INPUTS_MAX];
    uint32_t node_of_leaf[INPUTS_MAX];
    for (uint32_t i = 0; i < count; i++) {
        node_of_leaf[i] = i;
        nodes[i] = (struct graph_node){.op_name = bytes_of(op_names[i])};
        inputs[i] = (struct entry_input){.leaf = i, .mirror = i + 1 < count ? i : HLO_NONE};
    }
    struct advisor advisor = {.arena = arena,
                              .kept = arena,
                              .graph = {.nodes = nodes, .node_of_leaf = node_of_leaf},
                              .roles = {.inputs = inputs, .input_count = count}};
    struct advice_item item = {.id = ADVICE_DONATE_INPUTS, .applies = true};
    return change_code_of(&advisor, &item);
}

static void expect(const char *const *op_names, uint32_t count, const char *code) {
    struct arena arena;
    arena_init(&arena, 0);
    const char *found = code_of(op_names, count, &arena);
    if (code)
        assert_string_equal(found, code);
    else
        assert_null(found);
    arena_free(&arena);
}

static void inputs_of_one_name_are_one_argument(void **state) {
    (void)state;
    expect((const char *const[]){"params['w']", "params['b']", "state.count", "batch"}, 4,
           "jax.jit(step, donate_argnums=(0, 1))  # params, state");
    expect((const char *const[]){"p", "batch[0]"}, 2, "jax.jit(step, donate_argnums=(0,))  # p");
}

static void nothing_is_filled_in_where_names_do_not_tell(void **state) {
    (void)state;
    expect((const char *const[]){"p", "", "batch"}, 3, NULL);
    expect((const char *const[]){"jit(step)/add", "batch"}, 2, NULL);
    expect((const char *const[]){"p[0]", "state", "p[1]", "batch"}, 4, NULL);  // not in order
    expect((const char *const[]){"args[0]['w']", "args[1]"}, 2, NULL);
    expect((const char *const[]){"batch"}, 1, NULL);
}

static void without_memory_nothing_is_filled_in(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 1);
    assert_null(code_of((const char *const[]){"p", "batch"}, 2, &arena));
    arena_free(&arena);
}

// They are told by what a message says, and no message says whether the program trains.
static void words_for_all_programs_hold_where_nothing_is_trained(void **state) {
    (void)state;
    assert_non_null(strstr(change_find(BYTES("halve_batch"))->text, "in training their gradients"));
    assert_non_null(strstr(change_find(BYTES("donate_inputs"))->text, "or caches"));
    assert_non_null(strstr(change_find(BYTES("bf16_parameters"))->text, "or that the results stay good enough"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inputs_of_one_name_are_one_argument),
        cmocka_unit_test(nothing_is_filled_in_where_names_do_not_tell),
        cmocka_unit_test(without_memory_nothing_is_filled_in),
        cmocka_unit_test(words_for_all_programs_hold_where_nothing_is_trained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
