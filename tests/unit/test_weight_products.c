// What a product takes one by one of a weight, as of experts: of graphs made by hand.
#include "analysis/advice/weight_products.h"

#include "analysis/program/callers.h"
#include "proto/hlo_fields.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/graph_by_hand.h"

// A batch of products by cuBLAS: of both operands dimension 0 is taken one by one, and 1 is summed over.
static void multiply(struct graph_by_hand *t, struct dimensions dimensions, uint32_t rows, uint32_t weight) {
    hand_add(t, OPCODE_CUSTOM_CALL, dimensions, 2, (uint32_t[]){rows, weight});
    t->nodes[t->graph.node_count - 1].op_name = BYTES("jit(step)/becd,edf->becf/dot_general");
    hand_text(t, HLO_INSTRUCTION_CUSTOM_CALL_TARGET, "__cublas$gemm");
    hand_text(t, HLO_INSTRUCTION_BACKEND_CONFIG,
              "{\"dot_dimension_numbers\": {\"lhs_contracting_dimensions\": [\"1\"], \"rhs_contracting_dimensions\": "
              "[\"1\"], \"lhs_batch_dimensions\": [\"0\"], \"rhs_batch_dimensions\": [\"0\"]}}");
}

// Of the last product, where dimension 2 of `rows` follows the batch.
static uint8_t weight_batch(struct graph_by_hand *t, uint32_t rows) {
    assert_true(dimension_flow_init(&t->flow, &t->graph, &t->arena));
    dimension_flow_mark(&t->flow, rows, 2);
    dimension_flow_run(&t->flow);
    struct advisor advisor = {.graph = t->graph, .batch = t->flow, .caller = callers_find(&t->graph, &t->arena)};
    struct weight_product product;
    assert_non_null(advisor.caller);
    assert_true(weight_product_read(&advisor, t->graph.node_count - 1, &product));
    return product.weight_batch;
}

// Many narrow experts: what they make is less than what they read.
static void test_experts_are_taken_one_by_one(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t rows = hand_parameter(t, (struct dimensions){3, {32, 1280, 1920}}),
             given = hand_parameter(t, (struct dimensions){3, {32, 1280, 704}}),
             weight = hand_add(t, OPCODE_COPY, (struct dimensions){3, {32, 1280, 704}}, 1, &given);
    multiply(t, (struct dimensions){3, {32, 1920, 704}}, rows, weight);
    assert_int_equal(weight_batch(t, rows), 1);
}

// [1536,4096], of which XLA:GPU sums four parts of 384 rows each.
static void test_parts_of_a_long_sum_are_none(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t rows = hand_parameter(t, (struct dimensions){3, {4, 384, 8}}),
             given = hand_parameter(t, (struct dimensions){2, {1536, 4096}}),
             weight = hand_add(t, OPCODE_RESHAPE, (struct dimensions){3, {4, 384, 4096}}, 1, &given);
    multiply(t, (struct dimensions){3, {4, 8, 4096}}, rows, weight);
    assert_int_equal(weight_batch(t, rows), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, hand_set_up, hand_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_experts_are_taken_one_by_one),
        TEST(test_parts_of_a_long_sum_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
