// Stages of pictures by hand: what of them is of other sizes.
#include "analysis/advice/mixed_sizes.h"

#include "tests/unit/cmocka_all.h"

enum { MIB = 1 << 20 };

static struct residual_group pictures(int64_t side, int64_t mib) {
    struct residual_group group = {.bytes = mib * MIB, .count = 1, .is_block = true};
    group.shape = (struct array_shape){.rank = 4, .dimensions = {16, side, side, 64}};
    return group;
}

static bool is_mixed(struct residual_group groups[], uint32_t count) {
    struct residuals residuals = {.groups = groups, .group_count = count};
    struct block_stages stages = {.count = 1};
    return mixed_sizes_are_in(&residuals, &stages, 0);
}

static void test_one_size_and_what_its_first_block_has(void **state) {
    (void)state;
    struct residual_group groups[] = {pictures(128, 300), pictures(64, 50), pictures(256, 400)};
    groups[2].is_joined = true;
    assert_false(is_mixed(groups, 3));
}

static void test_an_encoder_in_a_decoders_time(void **state) {
    (void)state;
    struct residual_group groups[] = {pictures(256, 300), pictures(128, 120), pictures(64, 160)};
    assert_true(is_mixed(groups, 3));
    groups[1].is_block = false;
    groups[2].bytes /= 2;
    assert_false(is_mixed(groups, 3));
}

static void test_what_is_no_picture(void **state) {
    (void)state;
    struct residual_group groups[] = {pictures(256, 100), pictures(64, 900)};
    groups[1].shape.rank = 3;
    assert_false(is_mixed(groups, 2));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_size_and_what_its_first_block_has),
        cmocka_unit_test(test_an_encoder_in_a_decoders_time),
        cmocka_unit_test(test_what_is_no_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
