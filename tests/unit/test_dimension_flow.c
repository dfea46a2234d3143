// Marks carried through single operations of a graph made by hand; behind a library's result lies its workspace:
//
//     y = library(t, "__cublas$lt$matmul", ..., 2, (uint32_t[]){x, w});   the workspace is leaf y + 1
#include "analysis/advice/dimension_flow.h"

#include "analysis/advice/dimension_ties.h"
#include "proto/hlo_fields.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/graph_by_hand.h"

// A custom call with a workspace behind its result.
static uint32_t library(struct graph_by_hand *t, const char *target, struct dimensions dimensions, int count,
                        const uint32_t *operands) {
    uint32_t leaf = hand_add(t, OPCODE_CUSTOM_CALL, dimensions, count, operands);
    hand_add_leaf(t, (struct dimensions){1, {dimensions.sizes[0]}});
    hand_text(t, HLO_INSTRUCTION_CUSTOM_CALL_TARGET, target);
    return leaf;
}

static void follow(struct graph_by_hand *t, uint32_t leaf, int dimension) {
    if (!t->flow.marks) assert_true(dimension_flow_init(&t->flow, &t->graph, &t->arena));
    dimension_flow_clear(&t->flow);
    dimension_flow_mark(&t->flow, leaf, dimension);
    dimension_flow_run(&t->flow);
}

// --- Products ---

static void test_a_product_of_cublas(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, (struct dimensions){2, {768, 768}}),
             w = hand_parameter(t, (struct dimensions){2, {768, 768}});
    uint32_t c = hand_parameter(t, (struct dimensions){2, {768, 768}});
    uint32_t y = library(t, "__cublas$lt$matmul", (struct dimensions){2, {768, 768}}, 3, (uint32_t[]){x, w, c});
    hand_text(t, HLO_INSTRUCTION_BACKEND_CONFIG,
              "{\"operation_queue_id\":\"0\",\"gemm_backend_config\":{\"alpha_real\":1,\"dot_dimension_numbers\":"
              "{\"lhs_contracting_dimensions\":[\"1\"],\"rhs_contracting_dimensions\":[ \"0\" ],"
              "\"lhs_batch_dimensions\":[],\"rhs_batch_dimensions\":[]},\"beta\":0}}");
    follow(t, x, 0);
    hand_check(t, y, 1);
    hand_check(t, c, 1);
    hand_check(t, w, 0);
    hand_check(t, y + 1, 0);
    assert_false(dimension_flow_is_contracted(&t->flow));
    follow(t, y, 1);
    hand_check(t, w, 2);
    hand_check(t, x, 0);
    follow(t, x, 1);
    hand_check(t, w, 1);
    hand_check(t, y, 0);
    assert_true(dimension_flow_is_contracted(&t->flow));
}

static void test_a_batch_of_products(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, (struct dimensions){3, {96, 512, 64}}),
             w = hand_parameter(t, (struct dimensions){3, {96, 64, 512}});
    uint32_t y = library(t, "__cublas$gemm", (struct dimensions){3, {96, 512, 512}}, 2, (uint32_t[]){x, w});
    hand_text(t, HLO_INSTRUCTION_BACKEND_CONFIG,
              "{\"dot_dimension_numbers\": {\"lhs_contracting_dimensions\": [\"2\"], \"rhs_contracting_dimensions\": "
              "[\"1\"], "
              "\"lhs_batch_dimensions\": [\"0\"], \"rhs_batch_dimensions\": [\"0\"]}}");
    follow(t, x, 0);
    hand_check(t, w, 1);
    hand_check(t, y, 1);
    follow(t, x, 1);
    hand_check(t, w, 0);
    hand_check(t, y, 2);
}

static void test_numbers_that_are_none(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, (struct dimensions){2, {8, 8}}),
             w = hand_parameter(t, (struct dimensions){2, {8, 8}});
    uint32_t y = library(t, "__cublas$gemm", (struct dimensions){2, {8, 8}}, 2, (uint32_t[]){x, w});
    hand_text(t, HLO_INSTRUCTION_BACKEND_CONFIG, "{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"");
    follow(t, x, 0);
    hand_check(t, y, 0);
}

// --- Convolutions: b01f_o01i->b01f ---

static void numbers(struct graph_by_hand *t) {
    struct wire_build n = {0};
    static const struct {
        uint32_t field;
        uint64_t dimensions[2];
        int count;
    } fields[] = {
        {CONVOLUTION_INPUT_BATCH, {0}, 1},          {CONVOLUTION_INPUT_FEATURE, {3}, 1},
        {CONVOLUTION_INPUT_SPATIAL, {1, 2}, 2},     {CONVOLUTION_KERNEL_OUTPUT_FEATURE, {0}, 1},
        {CONVOLUTION_KERNEL_INPUT_FEATURE, {3}, 1}, {CONVOLUTION_KERNEL_SPATIAL, {1, 2}, 2},
        {CONVOLUTION_OUTPUT_BATCH, {0}, 1},         {CONVOLUTION_OUTPUT_FEATURE, {3}, 1},
        {CONVOLUTION_OUTPUT_SPATIAL, {1, 2}, 2},
    };
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        for (int k = 0; k < fields[i].count; k++) wire_build_varint(&n, fields[i].field, fields[i].dimensions[k]);
    }
    hand_message(t, HLO_INSTRUCTION_CONVOLUTION, &n);
}

static const struct dimensions images = {4, {128, 32, 32, 64}}, features = {4, {128, 16, 16, 256}},
                               kernel = {4, {256, 3, 3, 64}};

static void test_a_convolution_of_cudnn(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, images), w = hand_parameter(t, kernel);
    uint32_t y = library(t, "__cudnn$convBiasActivationForward", features, 2, (uint32_t[]){x, w});
    numbers(t);
    follow(t, x, 0);
    hand_check(t, y, 1);
    hand_check(t, w, 0);
    follow(t, y, 3);
    hand_check(t, w, 1);
    hand_check(t, x, 0);
}

static void test_a_gradient_of_the_input(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t dy = hand_parameter(t, features), w = hand_parameter(t, kernel);
    uint32_t dx = library(t, "__cudnn$convBackwardInput", images, 2, (uint32_t[]){dy, w});
    numbers(t);
    follow(t, dy, 0);
    hand_check(t, dx, 1);
    follow(t, dy, 3);
    hand_check(t, w, 1);
    assert_true(dimension_flow_is_contracted(&t->flow));
    follow(t, dx, 3);
    hand_check(t, w, 8);
}

static void test_a_gradient_of_the_kernel(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, images), dy = hand_parameter(t, features);
    uint32_t dw = library(t, "__cudnn$convBackwardFilter", kernel, 2, (uint32_t[]){x, dy});
    numbers(t);
    follow(t, x, 0);
    hand_check(t, dy, 1);
    hand_check(t, dw, 0);
    assert_true(dimension_flow_is_contracted(&t->flow));
    follow(t, dy, 3);
    hand_check(t, dw, 1);
}

// What a file calls a convolution may make a token, of dimensions that no array has.
static void test_a_convolution_of_nothing(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, images), w = hand_parameter(t, kernel);
    uint32_t y = hand_add(t, OPCODE_CONVOLUTION, features, 2, (uint32_t[]){x, w});
    struct wire_build n = {0};
    wire_build_varint(&n, CONVOLUTION_INPUT_SPATIAL, 200);
    wire_build_varint(&n, CONVOLUTION_KERNEL_SPATIAL, 200);
    wire_build_varint(&n, CONVOLUTION_OUTPUT_SPATIAL, 200);
    wire_build_varint(&n, CONVOLUTION_OUTPUT_BATCH, 201);
    hand_message(t, HLO_INSTRUCTION_CONVOLUTION, &n);
    t->leaves[y].rank = ARRAY_NONE;
    follow(t, x, 1);
    hand_check(t, y, 0);
    hand_check(t, w, 0);
}

// --- Attention ---

static void test_attention(void **state) {
    struct graph_by_hand *t = *state;
    const struct dimensions rows = {4, {4, 1024, 8, 64}}, seen = {4, {4, 256, 8, 64}};
    uint32_t q = hand_parameter(t, rows), k = hand_parameter(t, seen), v = hand_parameter(t, seen);
    uint32_t y = hand_add(t, OPCODE_CUSTOM_CALL, (struct dimensions){4, {4, 8, 1024, 64}}, 3, (uint32_t[]){q, k, v});
    uint32_t statistics = hand_add_leaf(t, (struct dimensions){3, {4, 8, 1024}});
    hand_text(t, HLO_INSTRUCTION_CUSTOM_CALL_TARGET, "__cudnn$fmhaSoftmax");
    hand_text(
        t, HLO_INSTRUCTION_BACKEND_CONFIG,
        "{\"cudnn_fmha_backend_config\":{\"bmm1_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"3\"],"
        "\"rhs_contracting_dimensions\":[\"3\"],\"lhs_batch_dimensions\":[\"0\",\"2\"],\"rhs_batch_dimensions\":[\"0\","
        "\"2\"]},\"bmm2_dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"3\"],\"rhs_contracting_dimensions\":"
        "[\"1\"],\"lhs_batch_dimensions\":[\"0\",\"1\"],\"rhs_batch_dimensions\":[\"0\",\"2\"]}}}");
    follow(t, q, 0);
    hand_check(t, k, 1);
    hand_check(t, v, 1);
    hand_check(t, y, 1);
    hand_check(t, statistics, 1);
    follow(t, y, 1);
    hand_check(t, q, 4);
    hand_check(t, v, 4);
    hand_check(t, statistics, 2);
    follow(t, q, 1);
    hand_check(t, y, 4);
    hand_check(t, k, 0);
}

static void test_attention_backward(void **state) {
    struct graph_by_hand *t = *state;
    const struct dimensions rows = {4, {4, 1024, 8, 64}}, turned = {4, {4, 8, 1024, 64}};
    uint32_t q = hand_parameter(t, rows), k = hand_parameter(t, rows), v = hand_parameter(t, rows);
    uint32_t dq = hand_add(t, OPCODE_CUSTOM_CALL, turned, 3, (uint32_t[]){q, k, v});
    uint32_t dk = hand_add_leaf(t, turned);
    hand_text(t, HLO_INSTRUCTION_CUSTOM_CALL_TARGET, "__cudnn$fmhaSoftmaxBackward");
    follow(t, q, 0);
    hand_check(t, dq, 1);
    hand_check(t, dk, 1);
    hand_check(t, v, 1);
}

// --- Factors of dimensions ---

static const struct dimensions by_head = {4, {8, 12, 512, 64}}, merged = {3, {96, 512, 64}};

static void test_a_factor_comes_out_where_it_went_in(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, by_head), y = hand_add(t, OPCODE_BITCAST, merged, 1, &x);
    uint32_t z = hand_add(t, OPCODE_RESHAPE, by_head, 1, &y);
    follow(t, x, 1);
    hand_check(t, y, 1);
    hand_check(t, z, 2);
    follow(t, x, 0);
    hand_check(t, y, 1);
    hand_check(t, z, 1);
}

// s32[4,1024]{1,0:T(4,128)} as its eight tiles.
static void test_tiles(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, (struct dimensions){2, {4, 1024}});
    uint32_t y = hand_add(t, OPCODE_BITCAST, (struct dimensions){4, {1, 8, 4, 128}}, 1, &x);
    for (uint32_t leaf = x; leaf <= y; leaf++) {
        t->leaves[leaf].tile_rank = 2;
        t->leaves[leaf].tile[0] = 128;
        t->leaves[leaf].tile[1] = 4;
    }
    follow(t, x, 0);
    hand_check(t, y, 1u << 2);
    follow(t, y, 1);
    hand_check(t, x, 2);
}

static void test_parts(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, (struct dimensions){3, {8, 1024, 5632}});
    uint32_t gate = hand_add(t, OPCODE_RESIZING, (struct dimensions){3, {8, 1, 2816}}, 1, &x);
    follow(t, gate, 2);
    hand_check(t, x, 0);
    t->flow.ties_parts = true;
    follow(t, gate, 2);
    hand_check(t, x, 4);
    follow(t, x, 1);
    hand_check(t, gate, 0);
}

static uint32_t resized(struct graph_by_hand *t, const char *op_name, int64_t examples, uint32_t from) {
    uint32_t leaf = hand_add(t, OPCODE_RESIZING, (struct dimensions){2, {examples, 768}}, 1, &from);
    t->nodes[t->graph.node_count - 1].op_name = bytes_of(op_name);
    return leaf;
}

// Twelve rows in a tile of sixteen; what the user cuts off are other rows.
static void test_rows_of_whole_tiles(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t tile = hand_parameter(t, (struct dimensions){2, {16, 768}});
    uint32_t rows = resized(t, "jit(step)/while/body/reshape", 12, tile), cut = resized(t, "jit(step)/slice", 12, tile);
    uint32_t few = resized(t, "jit(step)/reshape", 8, tile);
    follow(t, rows, 0);
    hand_check(t, tile, 1);
    hand_check(t, cut, 0);
    hand_check(t, few, 0);
}

// Twelve pairs, the chosen and the rejected one after the other, more than the few rows that a library pads with; the
// compiler's own slices have no name, or that of the products that it made one of.
static void test_joined_examples(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t chosen = hand_parameter(t, (struct dimensions){2, {12, 768}});
    uint32_t both = resized(t, "jit(step)/jvp()/concatenate", 24, chosen);
    uint32_t again = resized(t, "jit(step)/jvp()/slice", 12, both), fetched = resized(t, "", 2, both);
    uint32_t others = resized(t, "jit(step)/jvp()/slice", 3, both), sum = resized(t, "jit(step)/jvp()/add", 12, both);
    uint32_t product = resized(t, "jit(step)/jvp()/fc/dot_general", 12, both);
    follow(t, chosen, 0);
    hand_check(t, both, 0);
    t->flow.ties_joined = true;
    follow(t, chosen, 0);
    hand_check(t, both, 1);
    hand_check(t, again, 1);
    hand_check(t, fetched, 0);
    hand_check(t, others, 0);
    hand_check(t, sum, 0);
    hand_check(t, product, 1);
}

// Zeros that are both a state of [examples, units] and the sum of gradients of [units, units].
static void test_zeros_that_two_share(void **state) {
    struct graph_by_hand *t = *state;
    const struct dimensions square = {2, {512, 512}};
    uint32_t zero = hand_parameter(t, (struct dimensions){.rank = 0});
    uint32_t zeros = hand_add(t, OPCODE_BROADCAST, square, 1, &zero);
    uint32_t given = hand_add(t, OPCODE_TUPLE, square, 1, &zeros);
    uint32_t state_of_loop = hand_add(t, OPCODE_COPY, square, 1, &given);
    uint32_t gradients = hand_add(t, OPCODE_COPY, square, 1, &zeros);
    uint32_t updated = hand_add(t, OPCODE_OTHER, square, 1, &state_of_loop);
    follow(t, updated, 0);
    hand_check(t, state_of_loop, 1);
    hand_check(t, given, 1);
    hand_check(t, zeros, 1);
    hand_check(t, gradients, 0);
}

// Logits, or zeros, whose index has (example, place, word), written in one row after the other.
static uint32_t written_out(struct graph_by_hand *t, enum opcode opcode, struct dimensions rearranged) {
    uint32_t logits = hand_parameter(t, (struct dimensions){3, {511, 8, 32000}});
    uint32_t numbers = hand_parameter(t, (struct dimensions){3, {511, 8, 3}});
    uint32_t indices = hand_add(t, OPCODE_BITCAST, rearranged, 1, &numbers);
    uint32_t updates = hand_parameter(t, (struct dimensions){1, {INT64_C(511) * 8}});
    struct wire_build by = {0};
    for (uint64_t d = 0; d < 3; d++) {
        wire_build_varint(&by, SCATTER_INSERTED_WINDOW_DIMS, d);
        wire_build_varint(&by, SCATTER_DIMS_TO_OPERAND_DIMS, d);
    }
    wire_build_varint(&by, SCATTER_INDEX_VECTOR_DIM, 1);
    bool is_gather = opcode == OPCODE_GATHER;
    hand_add(t, opcode,
             is_gather ? (struct dimensions){1, {INT64_C(511) * 8}} : (struct dimensions){3, {511, 8, 32000}},
             is_gather ? 2 : 3, (uint32_t[]){logits, indices, updates});
    hand_message(t, is_gather ? HLO_INSTRUCTION_GATHER : HLO_INSTRUCTION_SCATTER, &by);
    return logits;
}

static void test_a_batch_written_out_as_indices(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t logits = written_out(t, OPCODE_SCATTER, (struct dimensions){2, {INT64_C(511) * 8, 3}});
    follow(t, logits + 1, 1);
    hand_check(t, logits, 2);
    follow(t, logits + 1, 0);
    hand_check(t, logits, 1);
    follow(t, logits, 2);
    hand_check(t, logits + 1, 0);
}

static void test_a_gather_with_a_batch_written_out(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t logits = written_out(t, OPCODE_GATHER, (struct dimensions){2, {INT64_C(511) * 8, 3}});
    follow(t, logits, 1);
    hand_check(t, logits + 1, 2);
}

// Rows of a table of eight, for eight examples: an index of one number has no batch in it.
static void test_an_index_of_one_number(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t table = hand_parameter(t, (struct dimensions){2, {8, 768}});
    uint32_t ids = hand_parameter(t, (struct dimensions){2, {8, 1}});
    uint32_t rows = hand_add(t, OPCODE_GATHER, (struct dimensions){2, {8, 768}}, 2, (uint32_t[]){table, ids});
    struct wire_build by = {0};
    wire_build_varint(&by, GATHER_OFFSET_DIMS, 1);
    wire_build_varint(&by, GATHER_COLLAPSED_SLICE_DIMS, 0);
    wire_build_varint(&by, GATHER_START_INDEX_MAP, 0);
    wire_build_varint(&by, GATHER_INDEX_VECTOR_DIM, 1);
    hand_message(t, HLO_INSTRUCTION_GATHER, &by);
    follow(t, ids, 0);
    hand_check(t, rows, 1);
    hand_check(t, table, 0);
}

// What operand and indices have in common, as it is told.
// Tokens sorted by their experts: the rows that are taken in that order are as many.
static void test_places_of_what_is_sorted(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t keys = hand_parameter(t, (struct dimensions){1, {6144}});
    uint32_t places = hand_add(t, OPCODE_IOTA, (struct dimensions){1, {6144}}, 0, NULL);
    uint32_t sorted = hand_add(t, OPCODE_SORT, (struct dimensions){1, {6144}}, 2, (uint32_t[]){keys, places});
    hand_add_leaf(t, (struct dimensions){1, {6144}});
    follow(t, keys, 0);
    hand_check(t, sorted, 1);
    hand_check(t, sorted + 1, 1);
}

static void test_a_batch_of_a_gather(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t logits = hand_parameter(t, (struct dimensions){3, {511, 8, 32000}});
    uint32_t places = hand_parameter(t, (struct dimensions){3, {8, 511, 1}});
    uint32_t terms = hand_add(t, OPCODE_GATHER, (struct dimensions){2, {8, 511}}, 2, (uint32_t[]){logits, places});
    struct wire_build by = {0};
    wire_build_varint(&by, GATHER_COLLAPSED_SLICE_DIMS, 2);
    wire_build_varint(&by, GATHER_START_INDEX_MAP, 2);
    wire_build_varint(&by, GATHER_INDEX_VECTOR_DIM, 2);
    for (uint64_t d = 0; d < 2; d++) {
        wire_build_varint(&by, GATHER_OPERAND_BATCHING_DIMS, d);
        wire_build_varint(&by, GATHER_START_INDICES_BATCHING_DIMS, 1 - d);
    }
    hand_message(t, HLO_INSTRUCTION_GATHER, &by);
    follow(t, logits, 1);
    hand_check(t, places, 1);
    hand_check(t, terms, 1);
}

// Of 384 = 64 x 6, the six: in one flow, and in what another takes of it.
static void test_marks_of_another_flow(void **state) {
    struct graph_by_hand *t = *state;
    uint32_t x = hand_parameter(t, (struct dimensions){2, {384, 196}});
    struct dimension_flow other;
    follow(t, x, 1);
    assert_true(dimension_flow_init(&other, &t->graph, &t->arena));
    dimension_flow_mark_factor(&other, x, 0, 64);
    dimension_flow_take(&t->flow, &other, x);
    hand_check(t, x, 1);
    assert_int_equal(dimension_flow_start(&t->flow, x, 0), 64);
    assert_int_equal(dimension_flow_shared(&t->flow, &other, x), 1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, hand_set_up, hand_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_product_of_cublas),
        TEST(test_a_batch_of_products),
        TEST(test_numbers_that_are_none),
        TEST(test_a_convolution_of_cudnn),
        TEST(test_a_gradient_of_the_input),
        TEST(test_a_gradient_of_the_kernel),
        TEST(test_a_convolution_of_nothing),
        TEST(test_attention),
        TEST(test_attention_backward),
        TEST(test_a_factor_comes_out_where_it_went_in),
        TEST(test_tiles),
        TEST(test_parts),
        TEST(test_rows_of_whole_tiles),
        TEST(test_joined_examples),
        TEST(test_zeros_that_two_share),
        TEST(test_a_batch_written_out_as_indices),
        TEST(test_a_gather_with_a_batch_written_out),
        TEST(test_an_index_of_one_number),
        TEST(test_places_of_what_is_sorted),
        TEST(test_a_batch_of_a_gather),
        TEST(test_marks_of_another_flow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
