#include "server/text/csv_row.h"

#include "tests/unit/cmocka_all.h"

static void assert_field(struct bytes text, const char *expected) {
    struct output output;
    output_init(&output, 1 << 10);
    struct csv_row row = {.output = &output};
    csv_put_text(&row, text);
    output_append_char(&output, '\0');
    assert_string_equal(output.data, expected);
    output_free(&output);
}

static void plain_text_stays_as_it_is(void **state) {
    (void)state;
    assert_field(BYTES(""), "");
    assert_field(BYTES("fusion.14 f32[8]"), "fusion.14 f32[8]");
    assert_field(BYTES("\xC3\xA9"), "\xC3\xA9");
}

static void what_would_end_a_field_is_quoted(void **state) {
    (void)state;
    assert_field(BYTES("f32[8,16]"), "\"f32[8,16]\"");
    assert_field(BYTES("a\nb"), "\"a\nb\"");
    assert_field(BYTES("a\rb"), "\"a\rb\"");
    assert_field(BYTES("say \"a\""), "\"say \"\"a\"\"\"");
    assert_field(BYTES(" a"), "\" a\"");
    assert_field(BYTES("a "), "\"a \"");
}

static void what_is_no_text_is_replaced(void **state) {
    (void)state;
    assert_field(BYTES("a\xFF"), "a\xEF\xBF\xBD");
    assert_field(BYTES("a\0b"), "\"a\xEF\xBF\xBD"
                                "b\"");
}

static void fields_are_parted_and_rows_ended(void **state) {
    (void)state;
    struct output output;
    output_init(&output, 1 << 10);
    struct csv_row row = {.output = &output};
    for (int i = 0; i < 2; i++) {
        csv_put_text(&row, BYTES("vm"));
        csv_put_number(&row, INT64_MIN);
        csv_end_row(&row);
    }
    output_append_char(&output, '\0');
    assert_string_equal(output.data, "vm,-9223372036854775808\nvm,-9223372036854775808\n");
    output_free(&output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_text_stays_as_it_is),
        cmocka_unit_test(what_would_end_a_field_is_quoted),
        cmocka_unit_test(what_is_no_text_is_replaced),
        cmocka_unit_test(fields_are_parted_and_rows_ended),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
