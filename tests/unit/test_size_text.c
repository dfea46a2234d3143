// Sizes as people write them. tests/web/unit/format.test.js reads the same table: page and program take the same.
#include "analysis/base/size_text.h"

#include <jansson.h>

#include "tests/unit/cmocka_all.h"

static json_t *read_table(void) {
    json_error_t error;
    json_t *table = json_load_file("tests/fixtures/sizes.json", 0, &error);
    if (!table) fail_msg("%s", error.text);
    return table;
}

static void sizes_are_read(void **state) {
    (void)state;
    json_t *table = read_table(), *bytes;
    const char *text;
    json_object_foreach(json_object_get(table, "sizes"), text, bytes) {
        int64_t read = -1;
        if (!size_text_read(text, &read) || read != json_integer_value(bytes))
            fail_msg("\"%s\" is read as %lld", text, (long long)read);
    }
    json_decref(table);
}

static void what_is_no_size_is_refused(void **state) {
    (void)state;
    json_t *table = read_table(), *text;
    size_t i;
    json_array_foreach(json_object_get(table, "no_sizes"), i, text) {
        int64_t read;
        if (size_text_read(json_string_value(text), &read)) fail_msg("\"%s\" is read", json_string_value(text));
    }
    json_decref(table);
}

static void sizes_are_written(void **state) {
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text, *exact;
    } cases[] = {
        {0, "0 B", "0 B"},
        {1023, "1023 B", "1023 B"},
        {-1023, "-1023 B", "-1023 B"},
        {190976, "186.50 KiB", "186.50 KiB (190976 bytes)"},
        {(INT64_C(1) << 30) - 1, "1.00 GiB", "1.00 GiB (1073741823 bytes)"},
        {INT64_C(18) << 30, "18.00 GiB", "18.00 GiB (19327352832 bytes)"},
        {INT64_MIN, "-8.00 EiB", "-8.00 EiB (-9223372036854775808 bytes)"},
    };
    struct arena arena;
    arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_string_equal(size_string(cases[i].bytes, &arena), cases[i].text);
        assert_string_equal(size_exact_string(cases[i].bytes, &arena), cases[i].exact);
    }
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_read),
        cmocka_unit_test(what_is_no_size_is_refused),
        cmocka_unit_test(sizes_are_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
