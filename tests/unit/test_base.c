// analysis/base: arena, error, id_map, string_table.
#include <stdio.h>

#include "analysis/base/arena.h"
#include "analysis/base/error.h"
#include "analysis/base/id_map.h"
#include "analysis/base/string_table.h"
#include "tests/unit/cmocka_all.h"

static void arena_memory_is_zeroed_and_aligned(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t size = 1; size < 300; size += 7) {
        uint8_t *memory = arena_push(&arena, size, 1);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % 16, 0);
        for (size_t i = 0; i < size; i++) assert_int_equal(memory[i], 0);
        memset(memory, 0xee, size);
    }
    assert_true(arena.used_bytes > 0);
    arena_free(&arena);
    assert_int_equal(arena.used_bytes, 0);
    assert_non_null(arena_new(&arena, uint64_t, 4));
    arena_free(&arena);
}

static void arena_keeps_what_it_gave(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    uint32_t *pieces[1000];
    for (uint32_t i = 0; i < 1000; i++) {
        pieces[i] = arena_new(&arena, uint32_t, 100);
        assert_non_null(pieces[i]);
        pieces[i][0] = pieces[i][99] = i;
    }
    assert_non_null(arena_push(&arena, 9u << 20, 1));
    for (uint32_t i = 0; i < 1000; i++) assert_true(pieces[i][0] == i && pieces[i][99] == i);
    arena_free(&arena);
}

static void arena_adopts_what_another_gave(void **state) {
    (void)state;
    for (size_t own = 0; own < 2; own++) {  // also into an arena that is empty yet
        struct arena arena, other;
        arena_init(&arena, 0);
        arena_init(&other, 0);
        uint32_t *first = own ? arena_new(&arena, uint32_t, 1) : NULL, *pieces[200];
        if (first) *first = 7;
        for (uint32_t i = 0; i < 200; i++) *(pieces[i] = arena_new(&other, uint32_t, 1000)) = i;
        size_t both = arena.used_bytes + other.used_bytes;
        arena_adopt(&arena, &other);
        assert_int_equal(arena.used_bytes, both);
        assert_int_equal(other.used_bytes, 0);
        arena_free(&other);
        assert_non_null(arena_new(&arena, uint32_t, 100000));
        for (uint32_t i = 0; i < 200; i++) assert_int_equal(*pieces[i], i);
        if (first) assert_int_equal(*first, 7);
        arena_adopt(&arena, &other);  // nothing
        arena_free(&arena);
    }
}

static void arena_stops_at_its_limit(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 100 << 10);
    assert_null(arena_push(&arena, 200 << 10, 1));
    size_t taken = 0;
    while (arena_push(&arena, 1 << 10, 1)) taken++;
    assert_in_range(taken, 60, 100);
    assert_true(arena.used_bytes <= 100 << 10);
    arena_free(&arena);
}

static void arena_refuses_sizes_that_overflow(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    assert_null(arena_push(&arena, SIZE_MAX, 2));
    assert_null(arena_push(&arena, SIZE_MAX / 2 + 1, 2));
    assert_null(arena_push(&arena, SIZE_MAX, 1));
    assert_null(arena_push(&arena, SIZE_MAX - 15, 1));
    assert_null(arena_string(&arena, (struct bytes){NULL, SIZE_MAX}));
    arena_free(&arena);
}

static void arena_makes_strings(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    assert_string_equal(arena_string(&arena, (struct bytes){(const uint8_t *)"module.1", 6}), "module");
    assert_string_equal(arena_string(&arena, (struct bytes){0}), "");
    assert_string_equal(arena_printf(&arena, "%s(%d)", "jit_f", 36), "jit_f(36)");
    assert_int_equal(strlen(arena_printf(&arena, "%5000d", 1)), 5000);
    arena_free(&arena);
}

static void errors_are_filled_once_and_placed_once(void **state) {
    (void)state;
    struct error error;
    assert_false(error_set(&error, ERROR_NOT_FOUND, "no host %s", "vm"));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_int_equal(error.offset, -1);
    assert_string_equal(error.message, "no host vm");
    assert_string_equal(error.file, "");
    assert_false(error_in_file(&error, "a.pb", 100));
    assert_int_equal(error.offset, -1);
    assert_false(error_at(&error, ERROR_MALFORMED, 7, "expected a varint"));
    assert_false(error_in_file(&error, "a.pb", 100));
    assert_false(error_in_file(&error, "b.pb", 1000));
    assert_int_equal(error.offset, 107);
    assert_string_equal(error.file, "a.pb");
}

static void long_messages_are_cut_not_overrun(void **state) {
    (void)state;
    struct error error;
    char text[4 * ERROR_MESSAGE_BYTES];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_false(error_set(&error, ERROR_TOO_BIG, "%s", text));
    assert_false(error_in_file(&error, text, 0));
    assert_int_equal(strlen(error.message), ERROR_MESSAGE_BYTES - 1);
    assert_int_equal(strlen(error.file), ERROR_FILE_BYTES - 1);
}

static void every_error_code_has_its_name(void **state) {
    (void)state;
    for (int a = 0; a < ERROR_CODE_COUNT; a++) {
        assert_non_null(error_code_name((enum error_code)a));
        for (int b = 0; b < a; b++)
            assert_string_not_equal(error_code_name((enum error_code)a), error_code_name((enum error_code)b));
    }
    assert_string_equal(error_code_name(ERROR_CODE_COUNT), "unknown");
}

static void id_map_finds_what_was_put(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    struct arena arena;
    struct id_map map;
    arena_init(&arena, 0);
    assert_true(id_map_init(&map, &arena, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) assert_true(id_map_put(&map, (int64_t)i * -(INT64_C(1) << 40), i));
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(id_map_get(&map, (int64_t)i * -(INT64_C(1) << 40)), i);
        assert_int_equal(id_map_get(&map, (int64_t)i + 1), ID_MAP_NONE);
    }
    assert_false(id_map_put(&map, 0, 99));
    assert_int_equal(id_map_get(&map, 0), 0);
    arena_free(&arena);
}

static void id_map_takes_extreme_keys_and_counts(void **state) {
    (void)state;
    struct arena arena;
    struct id_map map = {0};
    assert_int_equal(id_map_get(&map, 1), ID_MAP_NONE);
    arena_init(&arena, 1 << 20);
    assert_true(id_map_init(&map, &arena, 0));
    assert_int_equal(id_map_get(&map, 0), ID_MAP_NONE);
    assert_true(id_map_init(&map, &arena, 3));
    assert_true(id_map_put(&map, INT64_MIN, 1) && id_map_put(&map, INT64_MAX, 2) && id_map_put(&map, -1, 3));
    assert_int_equal(id_map_get(&map, INT64_MIN), 1);
    assert_int_equal(id_map_get(&map, INT64_MAX), 2);
    assert_int_equal(id_map_get(&map, -1), 3);
    assert_false(id_map_init(&map, &arena, 1 << 24));
    assert_false(id_map_init(&map, &arena, SIZE_MAX));
    arena_free(&arena);
}

static void id_map_grows_beyond_what_was_expected(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    struct arena arena;
    struct id_map map;
    arena_init(&arena, 900 << 10);
    assert_true(id_map_init(&map, &arena, 1));
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t *place = id_map_place(&map, -(int64_t)i);
        assert_int_equal(*place, ID_MAP_NONE);
        *place = i;
    }
    for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(*id_map_place(&map, -(int64_t)i), i);
    uint32_t more = COUNT;
    while (id_map_put(&map, more, more)) more++;
    assert_null(id_map_place(&map, more));
    assert_int_equal(id_map_get(&map, -COUNT + 1), COUNT - 1);
    arena_free(&arena);
}

static void copied_texts_outlive_what_they_were_copied_from(void **state) {
    (void)state;
    struct arena arena;
    struct string_table table;
    char text[] = "fusion.1";
    arena_init(&arena, 0);
    assert_true(string_table_init(&table, &arena));
    assert_int_equal(string_table_copy(&table, bytes_of(text), &arena), 1);
    memset(text, 'x', sizeof text - 1);
    assert_true(bytes_equal(table.texts[1], BYTES("fusion.1")));
    assert_int_equal(string_table_put(&table, bytes_of(text)), 2);
    assert_int_equal(string_table_copy(&table, BYTES("fusion.1"), &arena), 1);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arena_memory_is_zeroed_and_aligned),
        cmocka_unit_test(arena_keeps_what_it_gave),
        cmocka_unit_test(arena_adopts_what_another_gave),
        cmocka_unit_test(arena_stops_at_its_limit),
        cmocka_unit_test(arena_refuses_sizes_that_overflow),
        cmocka_unit_test(arena_makes_strings),
        cmocka_unit_test(errors_are_filled_once_and_placed_once),
        cmocka_unit_test(long_messages_are_cut_not_overrun),
        cmocka_unit_test(every_error_code_has_its_name),
        cmocka_unit_test(id_map_finds_what_was_put),
        cmocka_unit_test(id_map_takes_extreme_keys_and_counts),
        cmocka_unit_test(id_map_grows_beyond_what_was_expected),
        cmocka_unit_test(copied_texts_outlive_what_they_were_copied_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
