#include "analysis/hlo/wide_shapes.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

enum { MEMORY_SPACE = 8, ELEMENT_S4 = 21 };

static void add_layout(struct wire_build *shape, size_t rank, const int64_t *tile, size_t tile_rank, int64_t space) {
    struct wire_build layout = {0}, tiles = {0};
    for (size_t i = rank; i-- > 0;) wire_build_varint(&layout, LAYOUT_MINOR_TO_MAJOR, i);
    for (size_t i = 0; i < tile_rank; i++) wire_build_varint(&tiles, TILE_DIMENSIONS, (uint64_t)tile[i]);
    if (tile_rank) wire_build_message(&layout, LAYOUT_TILES, &tiles);
    if (space) wire_build_varint(&layout, MEMORY_SPACE, (uint64_t)space);
    wire_build_message(shape, SHAPE_LAYOUT, &layout);
}

static struct wire_build tiled_matrix(void) {
    struct wire_build shape = hlo_build_array_shape(ELEMENT_BF16, (int64_t[]){100, 300}, 2);
    add_layout(&shape, 2, (int64_t[]){8, 128}, 2, 1);
    return shape;
}

static void expect_text(struct wire_build *shape, const char *text) {
    struct arena arena;
    arena_init(&arena, 0);
    assert_string_equal(shape_text(wire_build_view(shape), &arena), text);
    arena_free(&arena);
}

static void arrays_are_written_as_xla_does(void **state) {
    (void)state;
    struct wire_build tiled = tiled_matrix(), scalar = hlo_build_array_shape(ELEMENT_F32, NULL, 0),
                      plain = hlo_build_array_shape(ELEMENT_F32, (int64_t[]){2, 3}, 2);
    add_layout(&plain, 2, NULL, 0, 0);
    add_layout(&scalar, 0, (int64_t[]){128}, 1, 0);
    expect_text(&tiled, "bf16[100,300]{1,0:T(8,128)S(1)}");
    expect_text(&plain, "f32[2,3]{1,0}");
    expect_text(&scalar, "f32[]{:T(128)}");
    wire_build_free(&tiled), wire_build_free(&plain), wire_build_free(&scalar);
}

static void long_tuples_are_counted_in_comments(void **state) {
    (void)state;
    struct wire_build tuple = {0};
    wire_build_varint(&tuple, SHAPE_ELEMENT_TYPE, ELEMENT_TUPLE);
    for (int i = 0; i < 6; i++) {
        struct wire_build element = hlo_build_array_shape(ELEMENT_F32, NULL, 0);
        wire_build_message(&tuple, SHAPE_TUPLE_SHAPES, &element);
    }
    expect_text(&tuple, "(f32[], f32[], f32[], f32[], f32[], /*index=5*/f32[])");
    assert_int_equal(shape_unpadded_bytes(wire_build_view(&tuple)), 48);
    struct bytes inner = shape_at(wire_build_view(&tuple), (struct shape_path){(int64_t[]){5}, 1});
    assert_int_equal(shape_unpadded_bytes(inner), 4);
    struct bytes none = shape_at(wire_build_view(&tuple), (struct shape_path){(int64_t[]){6}, 1});
    assert_int_equal(shape_unpadded_bytes(none), 48);
    wire_build_free(&tuple);
}

static void sizes_are_products_of_dimensions(void **state) {
    (void)state;
    static const struct {
        int element_type;
        int64_t dimensions[2];
        int64_t bytes;
    } cases[] = {
        {ELEMENT_F32, {3, 5}, 60},
        {ELEMENT_BF16, {100, 300}, 60000},
        {ELEMENT_S4, {3, 5}, 8},
        {ELEMENT_F32, {0, 5}, 0},
        {ELEMENT_F32, {INT64_MAX, 8}, -1},
        {77, {1, 1}, -1},
        {ELEMENT_F32, {327680, 327680}, 429496729600},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct wire_build shape = hlo_build_array_shape(cases[i].element_type, cases[i].dimensions, 2);
        assert_int_equal(shape_unpadded_bytes(wire_build_view(&shape)), cases[i].bytes);
        wire_build_free(&shape);
    }
}

static void padding_comes_from_the_first_tile(void **state) {
    (void)state;
    struct wire_build shape = tiled_matrix();
    struct shape_layout layout;
    struct arena arena;
    arena_init(&arena, 0);
    assert_true(shape_layout_read(wire_build_view(&shape), &arena, &layout));
    assert_string_equal(layout.element_type, "bf16");
    assert_int_equal(layout.element_bits, 16);
    assert_int_equal(layout.dimension_count, 2);
    assert_int_equal(layout.dimensions[0].padded, 104);
    assert_int_equal(layout.dimensions[0].tile, 8);
    assert_int_equal(layout.dimensions[1].padded, 384);
    assert_int_equal(layout.dimensions[1].tile, 128);
    arena_free(&arena);
    wire_build_free(&shape);
}

// protobuf-c unpacks by recursion: a nesting that would exhaust the stack must not reach it.
static void deep_nesting_is_refused(void **state) {
    (void)state;
    struct wire_build shape = hlo_build_array_shape(ELEMENT_F32, NULL, 0);
    for (int depth = 0; depth < 5000; depth++) {
        struct wire_build outer = {0};
        wire_build_varint(&outer, SHAPE_ELEMENT_TYPE, ELEMENT_TUPLE);
        wire_build_message(&outer, SHAPE_TUPLE_SHAPES, &shape);
        shape = outer;
    }
    expect_text(&shape, "");
    wire_build_free(&shape);
}

static void damaged_shapes_have_no_size(void **state) {
    (void)state;
    struct wire_build shape = tiled_matrix();
    struct bytes whole = wire_build_view(&shape);
    assert_int_equal(shape_unpadded_bytes((struct bytes){whole.data, whole.size - 1}), -1);
    assert_int_equal(shape_unpadded_bytes((struct bytes){0}), -1);
    wire_build_free(&shape);
}

static struct bytes element(struct wide_shapes *wide, struct bytes tuple, int64_t index) {
    return wide_shape_at(wide, tuple, (struct shape_path){&index, 1});
}

// What lies before an element is not read again: it could not be, after the first time.
static void wide_tuples_are_walked_once(void **state) {
    (void)state;
    enum { WIDTH = 1000 };
    struct wire_build build = {0};
    struct arena arena;
    struct wide_shapes wide;
    wire_build_varint(&build, SHAPE_ELEMENT_TYPE, ELEMENT_TUPLE);
    for (int64_t i = 0; i < WIDTH; i++) {
        struct wire_build array = hlo_build_array_shape(ELEMENT_F32, &i, 1);
        wire_build_message(&build, SHAPE_TUPLE_SHAPES, &array);
    }
    struct bytes tuple = wire_build_view(&build);
    arena_init(&arena, 0);
    assert_true(wide_shapes_init(&wide, &arena));
    struct bytes last = element(&wide, tuple, WIDTH - 1), middle = element(&wide, tuple, 500);
    assert_int_equal(shape_unpadded_bytes(last), 4 * (WIDTH - 1));
    assert_string_equal((const char *)wide_shape_text(&wide, middle, 0).data, "f32[500]");
    assert_int_equal(wide_shape_unpadded_bytes(&wide, tuple), 8 * WIDTH);
    memset(build.data, 0xff, (size_t)(middle.data - tuple.data));
    assert_int_equal(shape_unpadded_bytes(tuple), -1);
    assert_ptr_equal(element(&wide, tuple, WIDTH - 1).data, last.data);
    assert_ptr_equal(element(&wide, tuple, 500).data, middle.data);
    assert_ptr_equal(element(&wide, tuple, WIDTH).data, tuple.data);
    assert_int_equal(wide_shape_unpadded_bytes(&wide, tuple), 8 * WIDTH);
    arena_free(&arena);
    wire_build_free(&build);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_written_as_xla_does),   cmocka_unit_test(long_tuples_are_counted_in_comments),
        cmocka_unit_test(sizes_are_products_of_dimensions), cmocka_unit_test(padding_comes_from_the_first_tile),
        cmocka_unit_test(deep_nesting_is_refused),          cmocka_unit_test(damaged_shapes_have_no_size),
        cmocka_unit_test(wide_tuples_are_walked_once),
    };
    return cmocka_run_group_tests_name("shape", tests, NULL, NULL);
}
