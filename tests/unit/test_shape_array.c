// Padded sizes against those that libtpu 0.0.51 gave buffers of these shapes.
#include "analysis/hlo/shape_array.h"

#include "tests/unit/cmocka_all.h"

enum { F32 = 11, BF16 = 16 };

static struct array_shape tiled(int type, int bits, int rank, const int64_t *dimensions, const int *minor_to_major,
                                int second_tile, int minor_tile) {
    struct array_shape shape = {.rank = (uint8_t)rank,
                                .tile_rank = 2,
                                .tile = {minor_tile, second_tile},
                                .element_type = (uint8_t)type,
                                .element_bits = (uint8_t)bits};
    for (int i = 0; i < rank; i++) {
        shape.dimensions[i] = dimensions[i];
        shape.minor_to_major[i] = (uint8_t)minor_to_major[i];
    }
    return shape;
}

static void test_sizes_of_the_compiler(void **state) {
    (void)state;
    const int64_t logits[] = {8, 1023, 50257}, scores[] = {8, 4, 12, 1025, 1025}, widths[] = {2048, 2050};
    const int logits_order[] = {1, 2, 0}, scored[] = {3, 4, 2, 1, 0}, matrix[] = {1, 0};
    struct array_shape a = tiled(F32, 32, 3, logits, logits_order, 8, 128);
    assert_int_equal(array_shape_bytes(&a), 1647050752);  // 1570.75 MiB
    struct array_shape b = tiled(F32, 32, 5, scores, scored, 8, 128);
    assert_int_equal(array_shape_bytes(&b), 1826095104);  // 1741.50 MiB
    struct array_shape c = tiled(F32, 32, 2, widths, matrix, 8, 128);
    assert_int_equal(array_shape_bytes(&c), 17825792);
    assert_int_equal(array_padded_dimension(&c, 1), 2176);
    assert_int_equal(array_padded_dimension(&c, 0), 2048);
}

static void test_small_dimensions_get_small_tiles(void **state) {
    (void)state;
    const int64_t few[] = {3, 256};
    const int matrix[] = {1, 0};
    struct array_shape shape = tiled(BF16, 16, 2, few, matrix, 8, 128);
    assert_int_equal(array_shape_bytes(&shape), 4 * 256 * 2);
}

static void test_the_batch_in_place_of_the_features(void **state) {
    (void)state;
    const int64_t images[] = {32, 64, 64, 256};
    const int batch_minor[] = {0, 3, 2, 1};
    struct array_shape shape = tiled(F32, 32, 4, images, batch_minor, 8, 128);
    assert_int_equal(array_shape_bytes(&shape), (int64_t)128 * 64 * 64 * 256 * 4);
    assert_int_equal(array_shape_bytes_turned(&shape, 0), (int64_t)32 * 64 * 64 * 256 * 4);
}

// 128 pixels would fill the lanes, but are not put there.
static void test_pixels_stay_where_they_are(void **state) {
    (void)state;
    const int64_t images[] = {32, 128, 128, 64};
    const int features_minor[] = {3, 0, 2, 1};
    struct array_shape shape = tiled(F32, 32, 4, images, features_minor, 8, 128);
    assert_int_equal(array_shape_bytes(&shape), (int64_t)32 * 128 * 128 * 128 * 4);
    assert_int_equal(array_shape_bytes_turned(&shape, 0), (int64_t)128 * 128 * 128 * 64 * 4);
}

// Ten examples fill ten of sixteen sublanes, 1984 places in a sequence all of them.
static void test_places_in_place_of_examples(void **state) {
    (void)state;
    const int64_t waves[] = {10, 1984, 168};
    const int examples_in_sublanes[] = {2, 0, 1};
    struct array_shape shape = tiled(F32, 32, 3, waves, examples_in_sublanes, 8, 128);
    assert_int_equal(array_shape_bytes(&shape), (int64_t)16 * 1984 * 256 * 4);
    assert_int_equal(array_shape_bytes_turned(&shape, 1), (int64_t)10 * 1984 * 256 * 4);
    assert_int_equal(array_shape_bytes_turned(&shape, 2), (int64_t)16 * 1984 * 256 * 4);
}

static void test_what_is_no_array(void **state) {
    (void)state;
    static const uint8_t tuple[] = {0x10, 13}, too_large[] = {0x10, 11, 0x18, 0xff, 0xff, 0xff, 0xff, 0x7f},
                         cut[] = {0x10, 11, 0x1a, 4, 1};
    struct array_shape shape = array_shape_read((struct bytes){tuple, sizeof tuple});
    assert_false(array_is(&shape));
    assert_int_equal(array_shape_bytes(&shape), -1);
    shape = array_shape_read((struct bytes){too_large, sizeof too_large});
    assert_false(array_is(&shape));
    shape = array_shape_read((struct bytes){cut, sizeof cut});
    assert_false(array_is(&shape));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_of_the_compiler),
        cmocka_unit_test(test_small_dimensions_get_small_tiles),
        cmocka_unit_test(test_the_batch_in_place_of_the_features),
        cmocka_unit_test(test_pixels_stay_where_they_are),
        cmocka_unit_test(test_places_in_place_of_examples),
        cmocka_unit_test(test_what_is_no_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
