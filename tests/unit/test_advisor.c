// What a buffer weighs with other dimensions: images f32[64,128,128,64] with the batch in the lanes, padded to 128.
#include "analysis/advice/advisor.h"

#include "tests/unit/cmocka_all.h"

static struct array_shape images(int64_t batch) {
    return (struct array_shape){.dimensions = {batch, 128, 128, 64},
                                .tile = {128, 8},
                                .minor_to_major = {0, 3, 2, 1},
                                .rank = 4,
                                .tile_rank = 2,
                                .element_type = 11,
                                .element_bits = 32};
}

static int64_t weigh_with(int64_t batch) {
    struct array_shape now = images(64), then = images(batch);
    struct hlo_buffer buffer = {.size_bytes = array_shape_bytes(&now)};
    struct hlo_module module = {.buffers = &buffer, .buffer_count = 1};
    uint32_t leaf = 0;
    struct advisor advisor = {.module = &module, .graph = {.leaves = &now, .leaf_of_buffer = &leaf, .leaf_count = 1}};
    return advisor_reshaped(&advisor, 0, &then);
}

static void test_as_it_is(void **state) {
    (void)state;
    assert_int_equal(weigh_with(64), (int64_t)128 * 128 * 128 * 64 * 4);
}

// Of 32 images the 64 channels come into the lanes, not the 128 pixels: half, and not a quarter.
static void test_channels_take_the_place_of_the_batch(void **state) {
    (void)state;
    assert_int_equal(weigh_with(32), (int64_t)32 * 128 * 128 * 128 * 4);
}

static void test_twice_the_batch_fills_the_lanes(void **state) {
    (void)state;
    assert_int_equal(weigh_with(128), (int64_t)128 * 128 * 128 * 64 * 4);
}

static const char *help_of(const char *op_name, int64_t batch, bool is_told) {
    struct graph_node node = {.op_name = bytes_of(op_name)};
    struct advisor advisor = {.graph = {.nodes = &node, .node_count = 1},
                              .roles = {.batch = batch, .is_batch_told = is_told}};
    return advisor_help(&advisor, "Compile it.");
}

static void only_what_is_missing_is_asked_for(void **state) {
    (void)state;
    assert_non_null(strstr(help_of("", 8, false), "without op names"));
    assert_non_null(strstr(help_of("jit(f)/add", 0, false), "--batch=N"));
    assert_string_equal(help_of("jit(f)/add", 8, false), "Compile it.");
    assert_string_equal(help_of("jit(f)/add", 1, true), "Compile it.");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_it_is),
        cmocka_unit_test(test_channels_take_the_place_of_the_batch),
        cmocka_unit_test(test_twice_the_batch_fills_the_lanes),
        cmocka_unit_test(only_what_is_missing_is_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
