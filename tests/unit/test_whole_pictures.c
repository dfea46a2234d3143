// What chips have whole of convolutions, of graphs made by hand: x [16,64,64,128] . k [3,3,128,128].
#include "analysis/advice/whole_pictures.h"

#include "analysis/program/callers.h"
#include "proto/hlo_fields.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/graph_by_hand.h"

static const struct dimensions PICTURES = {4, {16, 64, 64, 128}}, KERNEL = {4, {3, 3, 128, 128}};

static uint32_t convolved(struct graph_by_hand *t, uint32_t pictures, const char *op_name) {
    uint32_t kernel = hand_parameter(t, KERNEL);
    uint32_t leaf = hand_add(t, OPCODE_CUSTOM_CALL, PICTURES, 2, (uint32_t[]){pictures, kernel});
    struct wire_build numbers = {0};
    t->nodes[t->graph.node_count - 1].op_name = bytes_of(op_name);
    wire_build_varint(&numbers, CONVOLUTION_KERNEL_INPUT_FEATURE, 2);
    wire_build_varint(&numbers, CONVOLUTION_KERNEL_OUTPUT_FEATURE, 3);
    wire_build_varint(&numbers, CONVOLUTION_INPUT_FEATURE, 3);
    wire_build_varint(&numbers, CONVOLUTION_OUTPUT_FEATURE, 3);
    hand_text(t, HLO_INSTRUCTION_CUSTOM_CALL_TARGET, "__cudnn$convForward");
    hand_message(t, HLO_INSTRUCTION_CONVOLUTION, &numbers);
    return leaf;
}

static const char *const FORWARD = "jit(step)/jvp()/conv_general_dilated";

static struct whole_pictures find(struct graph_by_hand *t, uint8_t *batch, uint8_t *marks, bool is_batch_split) {
    struct advisor advisor = {.is_for_gpu = true,
                              .graph = t->graph,
                              .batch = {.graph = &t->graph, .marks = batch},
                              .roles = {.is_training = true},
                              .caller = callers_find(&t->graph, &t->arena),
                              .request = {.ways = 4},
                              .arena = &t->arena};
    struct sharding_split split = {.is_by_features = true, .flow = {.marks = marks}};
    struct whole_pictures whole;
    assert_true(whole_pictures_find(&advisor, &split, is_batch_split, &whole));
    return whole;
}

// With the batch split: what features have won is gathered for the next convolution, what the batch has won is not.
static void test_features_win_here_and_there(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, PICTURES), y = convolved(t, x, FORWARD), z = convolved(t, y, FORWARD);
    uint8_t batch[LEAVES_MAX] = {[0] = 0}, marks[LEAVES_MAX] = {[0] = 0};
    batch[x] = batch[y] = batch[z] = 1;
    marks[x] = marks[y] = 1;
    marks[z] = 8;
    struct whole_pictures whole = find(t, batch, marks, true);
    assert_int_equal(whole.leaves[x], 0);
    assert_int_equal(whole.leaves[y], 1);
    assert_int_equal(whole.leaves[z], 0);
    assert_int_equal(whole.at_end_bytes, 0);
}

// With it whole: the input, a part of the output's gradient, and two on their way.
static void test_what_is_there_at_the_end(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, PICTURES), y = convolved(t, x, FORWARD);
    uint8_t batch[LEAVES_MAX] = {[0] = 0}, marks[LEAVES_MAX] = {[0] = 0};
    batch[x] = batch[y] = 1;
    marks[y] = 8;
    struct whole_pictures whole = find(t, batch, marks, false);
    int64_t pictures = (int64_t)16 * 64 * 64 * 128 * 4;
    assert_int_equal(whole.leaves[x], 1);
    assert_int_equal(whole.at_end_bytes, 3 * pictures + pictures / 4);
}

static void test_gradients_of_gradients_are_not_told(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, PICTURES), y = convolved(t, x, "jit(step)/jvp(jvp())/conv_general_dilated");
    uint8_t batch[LEAVES_MAX] = {[0] = 0}, marks[LEAVES_MAX] = {[0] = 0};
    batch[x] = batch[y] = 1;
    marks[y] = 8;
    struct whole_pictures whole = find(t, batch, marks, false);
    assert_int_equal(whole.leaves[x], 0);
    assert_int_equal(whole.at_end_bytes, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, hand_set_up, hand_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_features_win_here_and_there),
        TEST(test_what_is_there_at_the_end),
        TEST(test_gradients_of_gradients_are_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
