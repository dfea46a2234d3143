// proto/wire: every wire type, and every way a message can be wrong.
#include "proto/wire.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/wire_build.h"

static struct bytes view(const uint8_t *data, size_t size) {
    return (struct bytes){data, size};
}
#define RAW(...) view((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void reads_every_wire_type(void **state) {
    (void)state;
    struct wire_build message = {0};
    wire_build_varint(&message, 1, 300);
    wire_build_fixed64(&message, 2, 0x1122334455667788u);
    wire_build_text(&message, 3, "host");
    wire_build_key(&message, 4, WIRE_FIXED32);
    wire_build_raw(&message, RAW(4, 3, 2, 1));
    wire_build_varint(&message, 0x1fffffff, UINT64_MAX);
    struct wire w = wire_open(wire_build_view(&message));
    struct wire_field f;
    assert_true(wire_next(&w, &f));
    assert_true(f.number == 1 && f.type == WIRE_VARINT && f.value == 300);
    assert_true(wire_next(&w, &f));
    assert_true(f.number == 2 && f.type == WIRE_FIXED64 && f.value == 0x1122334455667788u);
    assert_true(wire_next(&w, &f));
    assert_true(f.number == 3 && f.type == WIRE_LEN && bytes_equal(f.payload, BYTES("host")));
    assert_true(f.payload.data >= message.data && f.payload.data < message.data + message.size);
    assert_true(wire_next(&w, &f));
    assert_true(f.number == 4 && f.type == WIRE_FIXED32 && f.value == 0x01020304);
    assert_true(wire_next(&w, &f));
    assert_true(f.number == 0x1fffffff && wire_int64(&f) == -1 && wire_int32(&f) == -1 && wire_bool(&f));
    assert_false(wire_next(&w, &f));
    assert_null(w.fault);
    assert_false(wire_next(&w, &f));
    wire_build_free(&message);
}

static void an_empty_message_has_no_field(void **state) {
    (void)state;
    struct wire_field f;
    struct wire nothing = wire_open((struct bytes){0}), empty = wire_open(BYTES(""));
    assert_false(wire_next(&nothing, &f));
    assert_null(nothing.fault);
    assert_false(wire_next(&empty, &f));
    assert_null(empty.fault);
}

static void a_fault_says_where_and_stays(void **state) {
    (void)state;
    struct wrong {
        struct bytes message;
        const char *expected;
    } const wrongs[] = {
        {RAW(0x08, 1, 0x80), "a field key (varint)"},
        {RAW(0x08, 1, 0x00), "a field number from 1 to 2^29-1"},
        {RAW(0x08, 1, 0x80, 0x80, 0x80, 0x80, 0x10), "a field number from 1 to 2^29-1"},
        {RAW(0x08, 1, 0x0b), "a wire type of 0, 1, 2 or 5"},
        {RAW(0x08, 1, 0x0c), "a wire type of 0, 1, 2 or 5"},
        {RAW(0x08, 1, 0x0e), "a wire type of 0, 1, 2 or 5"},
        {RAW(0x08, 1, 0x08, 0x80), "a varint of at most 10 bytes"},
        {RAW(0x08, 1, 0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1),
         "a varint of at most 10 bytes"},
        {RAW(0x08, 1, 0x09, 1, 2, 3), "a fixed-width value inside the message"},
        {RAW(0x08, 1, 0x0d, 1, 2, 3), "a fixed-width value inside the message"},
        {RAW(0x08, 1, 0x0a, 0x80), "a length (varint)"},
        {RAW(0x08, 1, 0x0a, 3, 1, 2), "a length that stays inside the message"},
        {RAW(0x08, 1, 0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 7),
         "a length that stays inside the message"},
    };
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        struct wire w = wire_open(wrongs[i].message);
        struct wire_field f;
        assert_true(wire_next(&w, &f));
        assert_false(wire_next(&w, &f));
        assert_non_null(w.fault);
        assert_string_equal(w.fault, wrongs[i].expected);
        assert_ptr_equal(w.at, wrongs[i].message.data + 2);
        assert_false(wire_next(&w, &f));
    }
}

// Cut anywhere, a message is a shorter one or a fault, and no byte past the cut is read (AddressSanitizer watches).
static void any_prefix_is_safe(void **state) {
    (void)state;
    struct wire_build message = {0};
    wire_build_varint(&message, 1, 1u << 20);
    wire_build_text(&message, 2, "name");
    wire_build_fixed64(&message, 3, 7);
    size_t ends[] = {0, 4, 10, 19};
    for (size_t size = 0; size <= message.size; size++) {
        uint8_t *copy = malloc(size + !size);
        assert_non_null(copy);
        if (size) memcpy(copy, message.data, size);
        struct wire w = wire_open(view(copy, size));
        struct wire_field f;
        size_t fields = 0;
        while (wire_next(&w, &f)) fields++;
        assert_true(size >= ends[fields] && (fields == 3 || size < ends[fields + 1]));
        assert_true((w.fault == NULL) == (size == ends[fields]));
        free(copy);
    }
    wire_build_free(&message);
}

static void bare_and_packed_varints(void **state) {
    (void)state;
    struct wire_build packed = {0}, message = {0};
    wire_build_bare_varint(&packed, 0);
    wire_build_bare_varint(&packed, 300);
    wire_build_bare_varint(&packed, UINT64_MAX);
    wire_build_message(&message, 6, &packed);
    wire_build_varint(&message, 6, 5);
    struct wire w = wire_open(wire_build_view(&message));
    struct wire_field f;
    assert_true(wire_next(&w, &f));
    struct wire inner = wire_open_packed(&f);
    uint64_t value, expected[] = {0, 300, UINT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        assert_true(wire_next_varint(&inner, &value));
        assert_true(value == expected[i]);
    }
    assert_false(wire_next_varint(&inner, &value));
    assert_null(inner.fault);
    assert_true(wire_next(&w, &f));
    inner = wire_open_packed(&f);
    assert_false(wire_next_varint(&inner, &value));
    assert_true(f.value == 5);
    inner = wire_open(RAW(0x80));
    assert_false(wire_next_varint(&inner, &value));
    assert_non_null(inner.fault);
    wire_build_free(&message);
}

static void views_compare_as_strings_do(void **state) {
    (void)state;
    assert_true(bytes_equal((struct bytes){0}, BYTES("")));
    assert_false(bytes_equal(BYTES("a"), BYTES("b")));
    assert_true(bytes_starts_with(BYTES("module.1"), BYTES("module")));
    assert_false(bytes_starts_with(BYTES("mod"), BYTES("module")));
    assert_true(bytes_ends_with(BYTES("x.pb"), BYTES(".pb")));
    assert_false(bytes_ends_with(BYTES("pb"), BYTES(".pb")));
    assert_true(bytes_compare(BYTES("a"), BYTES("ab")) < 0);
    assert_true(bytes_compare(BYTES("b"), BYTES("ab")) > 0);
    assert_true(bytes_compare(BYTES("\xff"), BYTES("a")) > 0);
    assert_true(bytes_compare((struct bytes){0}, (struct bytes){0}) == 0);
    assert_true(bytes_equal(bytes_of("host"), BYTES("host")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_wire_type),        cmocka_unit_test(an_empty_message_has_no_field),
        cmocka_unit_test(a_fault_says_where_and_stays), cmocka_unit_test(any_prefix_is_safe),
        cmocka_unit_test(bare_and_packed_varints),      cmocka_unit_test(views_compare_as_strings_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
