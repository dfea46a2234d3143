// What a buffer takes once its array is smaller.
#include "analysis/advice/advisor.h"

#include "tests/unit/cmocka_all.h"

// f32[examples,places]{0,1:T(8,128)}: the examples are in the lanes.
static struct array_shape in_lanes(int64_t examples, int64_t places) {
    return (struct array_shape){.dimensions = {examples, places},
                                .tile = {128, 8},
                                .minor_to_major = {0, 1},
                                .rank = 2,
                                .tile_rank = 2,
                                .element_type = 11,
                                .element_bits = 32};
}

static int64_t reshaped(struct array_shape today, struct array_shape then) {
    struct hlo_buffer buffer = {.size_bytes = array_shape_bytes(&today)};
    struct hlo_module module = {.buffers = &buffer, .buffer_count = 1};
    uint32_t leaf = 0;
    struct advisor advisor = {.module = &module, .graph = {.leaves = &today, .leaf_of_buffer = &leaf}};
    return advisor_reshaped(&advisor, 0, &then);
}

static void fewer_examples_may_leave_the_lanes(void **state) {
    (void)state;
    assert_int_equal(reshaped(in_lanes(128, 192), in_lanes(64, 192)), 64 * 256 * 4);
}

// Eight examples in 128 lanes are there though places could be: four are as well.
static void what_is_padded_in_vain_stays_so(void **state) {
    (void)state;
    assert_int_equal(reshaped(in_lanes(8, 384), in_lanes(4, 384)), 384 * 128 * 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fewer_examples_may_leave_the_lanes),
        cmocka_unit_test(what_is_padded_in_vain_stays_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
