// Where a step turns from forward to backward, in programs made by hand: an operation an array, each with its name.
#include "analysis/groups/phases.h"

#include "tests/unit/cmocka_all.h"

enum { ARRAYS_MAX = 8, STEPS = 100 };

static const char forward[] = "jit(step)/jvp()/dot_general", backward[] = "jit(step)/transpose(jvp())/dot_general";

struct by_hand {
    struct graph_node nodes[ARRAYS_MAX];
    struct hlo_buffer buffers[ARRAYS_MAX];
    struct heap_span spans[ARRAYS_MAX];
    struct bytes names[STEPS];
    uint32_t count;
};

// An array that the operation of that name writes at `start`, and that is free again at `end`.
static void add(struct by_hand *t, const char *op_name, const char *instruction, int64_t bytes, uint32_t start,
                uint32_t end) {
    uint32_t i = t->count++;
    t->nodes[i] = (struct graph_node){.opcode = OPCODE_OTHER, .op_name = bytes_of(op_name)};
    t->buffers[i] = (struct hlo_buffer){.size_bytes = bytes, .instruction = i};
    t->spans[i] = (struct heap_span){.buffer = i, .start_step = start, .end_step = end};
    t->names[start] = bytes_of(instruction);
}

// The turns of a program's steps, on `arena`.
static struct phases phases_of(struct by_hand *t, struct arena *arena) {
    struct phases phases;
    struct graph_computation entry = {.is_entry = true, .root = HLO_NONE};
    struct hlo_module module = {.buffers = t->buffers, .buffer_count = t->count};
    struct program_graph graph = {
        .module = &module, .nodes = t->nodes, .node_count = t->count, .computations = &entry, .computation_count = 1};
    struct heap_replay replay = {
        .step_count = STEPS, .instruction_names = t->names, .spans = t->spans, .span_count = t->count};
    arena_init(arena, 0);
    assert_true(phases_find(&graph, &replay, arena, &phases));
    return phases;
}

static uint32_t turn_of(struct by_hand *t) {
    struct arena arena;
    uint32_t turn = phases_of(t, &arena).turn_step;
    arena_free(&arena);
    return turn;
}

static struct by_hand with_layers(void) {
    struct by_hand t = {.count = 0};
    add(&t, forward, "dot.1", 100, 1, 60);
    add(&t, forward, "dot.2", 100, 10, 50);
    add(&t, backward, "dot.3", 100, 30, 50);
    add(&t, backward, "dot.4", 100, 40, 60);
    return t;
}

static void test_between_forward_and_backward(void **state) {
    (void)state;
    struct by_hand t = with_layers();
    assert_in_range(turn_of(&t), 11, 30);
}

static void test_a_large_array_that_is_soon_gone_does_not_decide(void **state) {
    (void)state;
    struct by_hand t = with_layers();
    add(&t, forward, "dot.5", 1000, 90, 93);
    assert_in_range(turn_of(&t), 11, 30);
}

static void test_what_is_computed_again_does_not_decide(void **state) {
    (void)state;
    struct by_hand t = with_layers();
    add(&t, forward, "dot.2.remat", 1000, 50, 80);
    assert_in_range(turn_of(&t), 11, 30);
}

static void test_a_forward_pass_alone_has_no_turn(void **state) {
    (void)state;
    struct by_hand t = {.count = 0};
    add(&t, forward, "dot.1", 100, 1, 60);
    assert_int_equal(turn_of(&t), STEPS);
}

static void test_each_of_two_gradients_has_a_turn(void **state) {
    (void)state;
    struct arena arena;
    struct by_hand t = {.count = 0};
    add(&t, forward, "dot.1", 100, 1, 30);
    add(&t, backward, "dot.2", 100, 20, 40);
    add(&t, forward, "dot.3", 100, 50, 80);
    add(&t, backward, "dot.4", 100, 70, 90);
    struct phases phases = phases_of(&t, &arena);
    assert_in_range(phases.next_turn[1], 2, 20);
    assert_int_equal(phases.next_turn[20], UINT32_MAX);  // backward
    assert_in_range(phases.next_turn[50], 51, 70);
    assert_int_equal(phases.next_turn[70], UINT32_MAX);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between_forward_and_backward),
        cmocka_unit_test(test_a_large_array_that_is_soon_gone_does_not_decide),
        cmocka_unit_test(test_what_is_computed_again_does_not_decide),
        cmocka_unit_test(test_a_forward_pass_alone_has_no_turn),
        cmocka_unit_test(test_each_of_two_gradients_has_a_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
