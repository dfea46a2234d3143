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

static struct phases found_in(const struct program_graph *graph, struct arena *arena) {
    struct phases phases;
    const struct heap_replay nothing = {.step_count = 0};
    arena_init(arena, 0);
    assert_true(phases_find(graph, &nothing, arena, &phases));
    return phases;
}

// The phase of what a custom call of that message makes backward of a forward array.
static enum phase phase_of_call(struct bytes message) {
    struct arena arena;
    uint32_t operand = 0;
    struct graph_node nodes[] = {
        {.opcode = OPCODE_OTHER, .op_name = bytes_of(forward)},
        {.opcode = OPCODE_CUSTOM_CALL, .operand_count = 1, .op_name = bytes_of(backward), .message = message}};
    struct graph_computation entry = {.node_count = 2, .is_entry = true, .root = HLO_NONE};
    struct hlo_module module = {.buffer_count = 0};
    struct program_graph graph = {.module = &module,
                                  .nodes = nodes,
                                  .node_count = 2,
                                  .operands = &operand,
                                  .operand_count = 1,
                                  .computations = &entry,
                                  .computation_count = 1};
    struct phases phases = found_in(&graph, &arena);
    enum phase phase = (enum phase)phases.of_node[1];
    arena_free(&arena);
    return phase;
}

static void test_a_librarys_product_is_no_copy_of_what_it_multiplies(void **state) {
    (void)state;
    assert_int_equal(phase_of_call(BYTES("\xe2\x01\x12__cublas$lt$matmul")), PHASE_BACKWARD);  // custom_call_target
    assert_int_equal(phase_of_call(BYTES("\xe2\x01\x05"
                                         "Fetch")),
                     PHASE_FORWARD);
}

static void test_what_a_loop_over_parts_reads_forward_it_was_given(void **state) {
    (void)state;
    enum { CARRIED, WEIGHT_INSIDE, STATE_INSIDE, DOT, ADD, WEIGHT, STATE, GIVEN, LOOP, NODES };
    struct arena arena;
    uint32_t operands[] = {CARRIED, CARRIED, WEIGHT_INSIDE, STATE_INSIDE, WEIGHT, STATE, GIVEN}, body = 0;
    struct graph_node nodes[NODES] = {
        [CARRIED] = {.opcode = OPCODE_PARAMETER},
        [WEIGHT_INSIDE] = {.opcode = OPCODE_GET_TUPLE_ELEMENT, .first_operand = 0, .operand_count = 1, .number = 0},
        [STATE_INSIDE] = {.opcode = OPCODE_GET_TUPLE_ELEMENT, .first_operand = 1, .operand_count = 1, .number = 1},
        [DOT] = {.opcode = OPCODE_OTHER, .first_operand = 2, .operand_count = 1, .op_name = bytes_of(forward)},
        [ADD] = {.opcode = OPCODE_OTHER, .first_operand = 3, .operand_count = 1, .op_name = bytes_of(backward)},
        [WEIGHT] = {.opcode = OPCODE_PARAMETER, .computation = 1},
        [STATE] = {.opcode = OPCODE_PARAMETER, .computation = 1},
        [GIVEN] = {.opcode = OPCODE_TUPLE, .computation = 1, .first_operand = 4, .operand_count = 2},
        [LOOP] = {.opcode = OPCODE_WHILE, .computation = 1, .first_operand = 6, .operand_count = 1, .called_count = 1}};
    struct graph_computation computations[] = {{.node_count = 5, .root = HLO_NONE},
                                               {.first_node = 5, .node_count = 4, .root = HLO_NONE, .is_entry = true}};
    struct hlo_module module = {.buffer_count = 0};
    struct program_graph graph = {.module = &module,
                                  .nodes = nodes,
                                  .node_count = NODES,
                                  .operands = operands,
                                  .operand_count = 7,
                                  .called = &body,
                                  .called_count = 1,
                                  .computations = computations,
                                  .computation_count = 2,
                                  .entry = 1};
    struct phases phases = found_in(&graph, &arena);
    assert_true(phases.is_read_forward[WEIGHT]);
    assert_false(phases.is_read_forward[STATE]);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_between_forward_and_backward),
        cmocka_unit_test(test_a_large_array_that_is_soon_gone_does_not_decide),
        cmocka_unit_test(test_what_is_computed_again_does_not_decide),
        cmocka_unit_test(test_a_forward_pass_alone_has_no_turn),
        cmocka_unit_test(test_each_of_two_gradients_has_a_turn),
        cmocka_unit_test(test_a_librarys_product_is_no_copy_of_what_it_multiplies),
        cmocka_unit_test(test_what_a_loop_over_parts_reads_forward_it_was_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
