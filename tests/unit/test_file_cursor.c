// analysis/input/file_cursor: the same answers as the wire cursor in memory, and errors with their place.
#include "analysis/input/file_cursor.h"

#include <stdlib.h>

#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/wire_build.h"

static struct wire_build sample_message(void) {
    struct wire_build message = {0};
    uint8_t *large = calloc(1, 200000);
    wire_build_varint(&message, 1, UINT64_MAX);
    wire_build_bytes(&message, 2, (struct bytes){large, 200000});  // over the source's window
    wire_build_fixed64(&message, 3, 0x1122334455667788u);
    wire_build_key(&message, 4, WIRE_FIXED32);
    wire_build_raw(&message, BYTES("\x04\x03\x02\x01"));
    wire_build_text(&message, 5, "");
    wire_build_text(&message, 6, "name");
    free(large);
    return message;
}

static void check_same_as_in_memory(struct byte_source *source, struct bytes message) {
    struct file_cursor cursor = file_cursor_over(source);
    struct wire wire = wire_open(message);
    struct file_field field;
    struct wire_field expected;
    struct error error;
    assert_non_null(source);
    while (wire_next(&wire, &expected)) {
        assert_true(file_cursor_next(&cursor, &field, &error));
        assert_int_equal(field.number, expected.number);
        assert_int_equal(field.type, expected.type);
        assert_true(field.value == expected.value);
        assert_int_equal(field.payload_size, expected.payload.size);
        if (expected.type == WIRE_LEN)
            assert_int_equal(field.payload_offset, (size_t)(expected.payload.data - message.data));
        assert_false(field.is_cut);
    }
    assert_true(!file_cursor_next(&cursor, &field, &error) && !cursor.has_failed);
    assert_true(!file_cursor_next(&cursor, &field, &error) && !cursor.has_failed);
    byte_source_close(source);
}

static void walks_as_the_wire_cursor_does(void **state) {
    (void)state;
    struct error error;
    struct wire_build message = sample_message();
    struct bytes plain = wire_build_view(&message), compressed = gzip_bytes(plain);
    check_same_as_in_memory(byte_source_of_memory(plain, "plain", &error), plain);
    check_same_as_in_memory(byte_source_of_memory(compressed, "gz", &error), plain);
    gzip_bytes_free(compressed);
    wire_build_free(&message);
}

static void a_prefix_ends_between_fields_or_is_truncated(void **state) {
    (void)state;
    struct wire_build message = {0};
    wire_build_varint(&message, 1, 1u << 20);
    wire_build_text(&message, 2, "name");
    wire_build_fixed64(&message, 3, 7);
    size_t ends[] = {0, 4, 10, 19};
    for (size_t size = 0; size <= message.size; size++) {
        struct error error;
        struct byte_source *source = byte_source_of_memory((struct bytes){message.data, size}, "cut", &error);
        struct file_cursor cursor = file_cursor_over(source);
        struct file_field field;
        size_t fields = 0;
        while (file_cursor_next(&cursor, &field, &error)) fields++;
        assert_true(size >= ends[fields] && (fields == 3 || size < ends[fields + 1]));
        assert_int_equal(cursor.has_failed, size != ends[fields]);
        assert_int_equal(cursor.at, ends[fields]);
        if (cursor.has_failed) {
            assert_int_equal(error.code, ERROR_TRUNCATED);
            assert_int_equal(error.offset, ends[fields]);
            assert_string_equal(error.file, "cut");
        }
        byte_source_close(source);
    }
    wire_build_free(&message);
}

static void a_cut_payload_is_handed_out_as_far_as_it_goes(void **state) {
    (void)state;
    struct error error;
    struct file_field field;
    struct byte_source *source = byte_source_of_memory(BYTES("\x08\x01\x12\x0a"
                                                             "1234"),
                                                       "cut", &error);
    struct file_cursor cursor = file_cursor_over(source);
    assert_true(file_cursor_next(&cursor, &field, &error));
    assert_true(!file_cursor_next(&cursor, &field, &error) && cursor.has_failed);
    assert_int_equal(error.code, ERROR_TRUNCATED);
    assert_int_equal(error.offset, 2);
    assert_true(field.is_cut && field.number == 2 && field.payload_offset == 4 && field.payload_size == 4);
    byte_source_close(source);
}

static void check_wrong(struct bytes message, uint64_t end, enum error_code code, const char *words) {
    struct error error;
    struct file_field field;
    struct byte_source *source = byte_source_of_memory(message, "wrong", &error);
    struct file_cursor cursor = {.source = source, .at = 2, .end = end};
    assert_true(!file_cursor_next(&cursor, &field, &error) && cursor.has_failed);
    assert_int_equal(error.code, code);
    assert_int_equal(error.offset, 2);
    assert_int_equal(cursor.at, 2);
    assert_string_equal(error.file, "wrong");
    if (!strstr(error.message, words)) fail_msg("not about '%s': %s", words, error.message);
    byte_source_close(source);
}

static void what_is_wrong_is_said(void **state) {
    (void)state;
    check_wrong(BYTES("\x08\x01\x00"), UINT64_MAX, ERROR_MALFORMED, "a field number");
    check_wrong(BYTES("\x08\x01\x80\x80\x80\x80\x10"), UINT64_MAX, ERROR_MALFORMED, "a field number");
    check_wrong(BYTES("\x08\x01\x0b"), UINT64_MAX, ERROR_MALFORMED, "a wire type");
    check_wrong(BYTES("\x08\x01\x0f"), UINT64_MAX, ERROR_MALFORMED, "a wire type");
    check_wrong(BYTES("\x08\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX, ERROR_MALFORMED, "key");
    check_wrong(BYTES("\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX, ERROR_MALFORMED,
                "varint of at most 10 bytes");
    check_wrong(BYTES("\x08\x01\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), UINT64_MAX, ERROR_TRUNCATED,
                "a field of 18446744073709551615 bytes");
    check_wrong(BYTES("\x08\x01\x0a\x04"
                      "123456"),
                6, ERROR_MALFORMED, "a length that stays inside its message");
    check_wrong(BYTES("\x08\x01\x0d"
                      "123456"),
                6, ERROR_MALFORMED, "a field that stays inside its message");
    check_wrong(BYTES("\x08\x01\x08\x80\x80\x01"
                      "56"),
                5, ERROR_MALFORMED, "a field that stays inside its message");
    check_wrong(BYTES("\x08\x01"), 6, ERROR_TRUNCATED, "the file ends inside it");
}

static void a_cursor_inside_a_field_ends_with_it(void **state) {
    (void)state;
    struct error error;
    struct file_field outer, inner;
    struct byte_source *source = byte_source_of_memory(BYTES("\x0a\x02\x08\x07\x10\x01"), "nested", &error);
    struct file_cursor cursor = file_cursor_over(source);
    assert_true(file_cursor_next(&cursor, &outer, &error));
    struct file_cursor inside = file_cursor_inside(source, &outer);
    assert_true(file_cursor_next(&inside, &inner, &error));
    assert_true(inner.number == 1 && inner.value == 7);
    assert_true(!file_cursor_next(&inside, &inner, &error) && !inside.has_failed);
    assert_true(file_cursor_next(&cursor, &outer, &error));
    assert_int_equal(outer.number, 2);
    byte_source_close(source);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_as_the_wire_cursor_does),
        cmocka_unit_test(a_prefix_ends_between_fields_or_is_truncated),
        cmocka_unit_test(a_cut_payload_is_handed_out_as_far_as_it_goes),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(a_cursor_inside_a_field_ends_with_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
