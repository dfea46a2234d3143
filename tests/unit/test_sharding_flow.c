// Which of two dimensions of an array is split, in graphs made by hand; four chips unless said.
#include "analysis/advice/sharding_flow.h"

#include "analysis/advice/given_data.h"
#include "analysis/advice/joined.h"
#include "proto/hlo_fields.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/graph_by_hand.h"

static const struct dimensions rows = {2, {64, 1024}};

// [a,b] . [b,c]
static uint32_t product(struct graph_by_hand *t, struct dimensions dimensions, uint32_t left, uint32_t right) {
    uint32_t leaf = hand_add(t, OPCODE_DOT, dimensions, 2, (uint32_t[]){left, right});
    struct wire_build numbers = {0};
    wire_build_varint(&numbers, DOT_LHS_CONTRACTING, 1);
    wire_build_varint(&numbers, DOT_RHS_CONTRACTING, 0);
    hand_message(t, HLO_INSTRUCTION_DOT, &numbers);
    return leaf;
}

static uint32_t sum(struct graph_by_hand *t, uint32_t a, uint32_t b) {
    return hand_add(t, OPCODE_OTHER, rows, 2, (uint32_t[]){a, b});
}

static void split(struct graph_by_hand *t, uint32_t input, int dimension) {
    if (!t->flow.marks) assert_true(dimension_flow_init(&t->flow, &t->graph, &t->arena));
    dimension_flow_mark(&t->flow, input, dimension);
}

static void run(struct graph_by_hand *t, int64_t chips) {
    t->flow.chips = chips;
    for (uint32_t i = 0; i < t->graph.node_count; i++) {
        struct graph_node *node = &t->nodes[i];
        if (node->opcode == OPCODE_PARAMETER) t->flow.is_blocked[node->first_leaf] = 1;
    }
    t->entry.root = t->graph.node_count - 1;
    assert_true(sharding_flow_run(&t->flow, &t->arena));
}

static void test_the_larger_array_wins(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t few = hand_parameter(t, (struct dimensions){2, {16, 64}});
    uint32_t many = hand_parameter(t, (struct dimensions){2, {16384, 64}});
    uint32_t w = hand_parameter(t, (struct dimensions){2, {64, 4096}});
    uint32_t in_columns = product(t, (struct dimensions){2, {16, 4096}}, few, w);
    uint32_t in_rows = product(t, (struct dimensions){2, {16384, 4096}}, many, w);
    split(t, few, 0);
    split(t, many, 0);
    split(t, w, 1);
    run(t, 4);
    hand_check(t, in_columns, 2);
    hand_check(t, in_rows, 1);
}

// x [64,1024] . w [1024/4,8], and x + a . b [64/4,1024], which comes later in the program.
static void test_what_is_summed_over_waits(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t input = hand_parameter(t, rows), w = hand_parameter(t, (struct dimensions){2, {1024, 8}});
    uint32_t a = hand_parameter(t, (struct dimensions){2, {64, 8}});
    uint32_t b = hand_parameter(t, (struct dimensions){2, {8, 1024}});
    uint32_t x = hand_add(t, OPCODE_COPY, rows, 1, &input);
    uint32_t y = product(t, (struct dimensions){2, {64, 8}}, x, w), z = sum(t, x, product(t, rows, a, b));
    split(t, w, 0);
    split(t, a, 0);
    run(t, 4);
    hand_check(t, x, 1);
    hand_check(t, y, 1);
    hand_check(t, z, 1);
    hand_check(t, w, 1);
    hand_check(t, input, 0);
}

static void test_nobody_else_wants_what_is_summed_over(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t input = hand_parameter(t, rows), w = hand_parameter(t, (struct dimensions){2, {1024, 8}});
    uint32_t x = hand_add(t, OPCODE_COPY, rows, 1, &input);
    uint32_t y = product(t, (struct dimensions){2, {64, 8}}, x, w);
    split(t, w, 0);
    run(t, 4);
    hand_check(t, x, 2);
    hand_check(t, y, 0);
}

static uint32_t broadcast(struct graph_by_hand *t, uint32_t vector) {
    uint32_t leaf = hand_add(t, OPCODE_BROADCAST, rows, 1, &vector);
    hand_varint(t, HLO_INSTRUCTION_DIMENSIONS, 1);
    return leaf;
}

static void test_what_is_broadcast_comes_last(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t v = hand_parameter(t, (struct dimensions){1, {1024}});
    uint32_t a = hand_parameter(t, (struct dimensions){2, {64, 8}});
    uint32_t b = hand_parameter(t, (struct dimensions){2, {8, 1024}});
    uint32_t wanted = broadcast(t, v), alone = broadcast(t, v), z = sum(t, wanted, product(t, rows, a, b));
    split(t, v, 0);
    split(t, a, 0);
    run(t, 4);
    hand_check(t, wanted, 1);
    hand_check(t, z, 1);
    hand_check(t, alone, 2);
}

// Nine heads stay together on four chips, and leave the batch to them.
static void test_what_the_chips_cannot_share(void **state) {
    struct graph_by_hand *t = *state;
    const struct dimensions heads = {3, {64, 9, 96}};
    uint32_t x = hand_parameter(t, (struct dimensions){2, {64, 864}}), b = hand_parameter(t, heads);
    uint32_t y = hand_add(t, OPCODE_RESHAPE, heads, 1, &x);
    uint32_t z = hand_add(t, OPCODE_OTHER, heads, 2, (uint32_t[]){y, b});
    split(t, x, 1);
    split(t, b, 0);
    run(t, 4);
    hand_check(t, y, 1);
    hand_check(t, z, 1);
}

static void test_what_the_chips_can_share(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, (struct dimensions){2, {64, 864}});
    uint32_t y = hand_add(t, OPCODE_RESHAPE, (struct dimensions){3, {64, 9, 96}}, 1, &x);
    split(t, x, 1);
    run(t, 3);
    hand_check(t, y, 2);
}

// Only the sanitizers see what goes wrong here: a hostile program's nodes would be put in order again and again.
static void test_an_entry_that_calls_itself(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t entry = 0, x = hand_parameter(t, rows), y = hand_add(t, OPCODE_FUSION, rows, 1, &x);
    t->graph.called = &entry;
    t->graph.called_count = 1;
    t->nodes[t->graph.node_count - 1].called_count = 1;
    split(t, x, 0);
    run(t, 4);
    hand_check(t, x, 1);
    hand_check(t, y, 0);
}

static const struct dimensions stacked = {3, {12, 64, 1024}}, one_of_stack = {3, {1, 64, 1024}};

// What a loop takes one of at a time follows the stack at once, before a product next to it is asked; a part later.
static void test_parts_of_a_stack_go_first(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t stack = hand_parameter(t, stacked), other = hand_parameter(t, (struct dimensions){3, {2, 64, 1024}});
    uint32_t taken = hand_add(t, OPCODE_DYNAMIC_SLICE, one_of_stack, 1, &stack);
    uint32_t cut = hand_add(t, OPCODE_RESIZING, one_of_stack, 1, &stack);
    uint32_t copy = hand_add(t, OPCODE_COPY, one_of_stack, 1, &cut);
    uint32_t late = hand_add(t, OPCODE_RESIZING, one_of_stack, 1, &other);
    uint32_t both = hand_add(t, OPCODE_OTHER, one_of_stack, 2, (uint32_t[]){taken, late});
    split(t, stack, 1);
    split(t, other, 2);
    run(t, 4);
    hand_check(t, taken, 1u << 1);
    hand_check(t, both, 1u << 1);
    hand_check(t, late, 1u << 1);
    hand_check(t, copy, 1u << 1);
}

// Of 12 layers on 4 chips none is split by taking one; of halves that are joined, each is.
static void test_what_is_taken_one_at_a_time_is_not_split(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t stack = hand_parameter(t, stacked), half = hand_parameter(t, rows);
    uint32_t taken = hand_add(t, OPCODE_DYNAMIC_SLICE, (struct dimensions){3, {4, 64, 1024}}, 1, &stack);
    uint32_t joined = hand_add(t, OPCODE_RESIZING, (struct dimensions){2, {128, 1024}}, 1, &half);
    split(t, stack, 0);
    split(t, half, 0);
    t->flow.ties_parts = true;
    run(t, 4);
    hand_check(t, taken, 0);
    hand_check(t, joined, 1);
}

// A copy of an input that lies whole is whole; a loop's own reading of it may be split, a copy it writes to as well.
static void test_inputs_stay_as_they_are_given(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t data = hand_parameter(t, rows), w = hand_parameter(t, rows);
    uint32_t copy = hand_add(t, OPCODE_COPY, rows, 1, &data), made = sum(t, copy, copy);
    uint32_t product_of_it = sum(t, copy, w);
    split(t, w, 1);
    t->flow.is_blocked[data] = t->flow.is_blocked[w] = 1;
    assert_true(given_data_block(&t->flow, &t->arena));
    run(t, 4);
    hand_check(t, copy, 0);
    hand_check(t, product_of_it, 2);
    hand_check(t, made, 0);
}

// Two of features [64,1024/4] are joined to [64,2048/4]; by rows is another matter, and so is what has no name.
static void test_what_is_joined_along_the_split(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t feature = hand_parameter(t, rows);
    const struct dimensions joined = {2, {64, 2048}};
    uint32_t both = hand_add(t, OPCODE_RESIZING, joined, 2, (uint32_t[]){feature, feature});
    struct graph_node *joins = &t->nodes[t->graph.node_count - 1];
    uint32_t tall = hand_add(t, OPCODE_RESIZING, (struct dimensions){2, {128, 2048}}, 1, &both);
    t->nodes[t->graph.node_count - 1].op_name = bytes_of("jit(step)/concatenate");
    split(t, feature, 1);
    split(t, tall, 1);
    dimension_flow_mark(&t->flow, both, 1);
    assert_int_equal(joined_most_bytes(&t->graph, &t->flow), 0);
    joins->op_name = bytes_of("jit(step)/concatenate");
    assert_int_equal(joined_most_bytes(&t->graph, &t->flow), 4 * 64 * 1024);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, hand_set_up, hand_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_the_larger_array_wins),
        TEST(test_what_is_summed_over_waits),
        TEST(test_nobody_else_wants_what_is_summed_over),
        TEST(test_what_is_broadcast_comes_last),
        TEST(test_what_the_chips_cannot_share),
        TEST(test_what_the_chips_can_share),
        TEST(test_an_entry_that_calls_itself),
        TEST(test_parts_of_a_stack_go_first),
        TEST(test_what_is_taken_one_at_a_time_is_not_split),
        TEST(test_inputs_stay_as_they_are_given),
        TEST(test_what_is_joined_along_the_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
