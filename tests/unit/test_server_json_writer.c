// The JSON writer: whatever goes in, jansson reads it back as the same.
#include "tests/unit/cmocka_all.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/text/json_writer.h"

struct document {
    struct output output;
    struct json_writer w;
};

static void begin(struct document *document) {
    output_init(&document->output, OUTPUT_LIMIT_BYTES);
    document->w = json_writer_on(&document->output);
}

static json_t *end(struct document *document) {
    json_error_t problem;
    assert_false(document->output.failed);
    json_t *value = json_loadb(document->output.data, document->output.size, JSON_DECODE_ANY, &problem);
    if (!value) print_error("%s: %.*s\n", problem.text, (int)document->output.size, document->output.data);
    assert_non_null(value);
    output_free(&document->output);
    return value;
}

static void nests_with_commas_in_the_right_places(void **state) {
    (void)state;
    struct document d;
    begin(&d);
    json_open_object(&d.w);
    json_key(&d.w, "empty");
    json_open_object(&d.w);
    json_close_object(&d.w);
    json_key(&d.w, "list");
    json_open_array(&d.w);
    json_write_int64(&d.w, 1);
    json_open_array(&d.w);
    json_close_array(&d.w);
    json_write_null(&d.w);
    json_write_bool(&d.w, true);
    json_write_text(&d.w, NULL);
    json_close_array(&d.w);
    json_write_bool_key(&d.w, "off", false);
    json_write_text_key(&d.w, "text", "a");
    json_close_object(&d.w);
    assert_memory_equal(d.output.data, "{\"empty\":{},\"list\":[1,[],null,true,null],\"off\":false,\"text\":\"a\"}",
                        d.output.size);
    json_decref(end(&d));
}

static void writes_every_int64(void **state) {
    (void)state;
    const int64_t values[] = {0,         1,           -1,      9,          10,        99,        100,
                              -100,      123456,      1000000, 4294967295, INT64_MAX, INT64_MIN, INT64_MIN + 1,
                              1LL << 53, -(1LL << 53)};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct document d;
        begin(&d);
        json_write_int64(&d.w, values[i]);
        json_t *read = end(&d);
        assert_true(json_integer_value(read) == values[i]);
        json_decref(read);
    }
}

static void writes_columns(void **state) {
    (void)state;
    enum { COUNT = 1000 };
    int64_t wide[COUNT];
    uint32_t narrow[COUNT];
    for (int i = 0; i < COUNT; i++) {
        wide[i] = (i % 2 ? -1 : 1) * ((int64_t)1 << (i % 63)) + i;
        narrow[i] = UINT32_MAX - (uint32_t)i;
    }
    for (size_t count = 0; count <= COUNT; count += count < 2 ? 1 : 199) {
        struct document d;
        begin(&d);
        json_open_object(&d.w);
        json_write_int64_column(&d.w, "wide", wide, count);
        json_write_uint32_column(&d.w, "narrow", narrow, count);
        json_close_object(&d.w);
        json_t *read = end(&d), *a = json_object_get(read, "wide"), *b = json_object_get(read, "narrow");
        assert_int_equal(json_array_size(a), count);
        assert_int_equal(json_array_size(b), count);
        for (size_t i = 0; i < count; i++) {
            assert_true(json_integer_value(json_array_get(a, i)) == wide[i]);
            assert_true(json_integer_value(json_array_get(b, i)) == narrow[i]);
        }
        json_decref(read);
    }
}

static void check_mib(int64_t bytes) {
    struct document d;
    begin(&d);
    json_write_mib(&d.w, bytes);
    char text[64], by_printf[64];
    snprintf(text, sizeof text, "%.*s", (int)d.output.size, d.output.data);
    double want = ldexp((double)bytes, -20), got = strtod(text, NULL);
    snprintf(by_printf, sizeof by_printf, "%.17g", want);
    if (got != want || strtod(by_printf, NULL) != got) fail_msg("%s for %lld bytes", text, (long long)bytes);
    assert_true(strchr(text, '.') == NULL || text[strlen(text) - 1] != '0');
    json_decref(end(&d));
}

static void writes_exact_mib(void **state) {
    (void)state;
    const int64_t special[] = {0,           1,      -1,        1023,     1 << 20, (1 << 20) - 1, (1 << 20) + 1,
                               11602833408, 557056, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) check_mib(special[i]);
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 200000; i++) {
        seed ^= seed << 13, seed ^= seed >> 7, seed ^= seed << 17;
        check_mib((int64_t)(seed >> (i % 48)) * (i % 2 ? 1 : -1));
    }
}

static void writes_mib_to_the_last_digit(void **state) {
    (void)state;
    struct document d;
    begin(&d);
    json_write_mib(&d.w, 1);
    assert_int_equal(d.output.size, strlen("0.00000095367431640625"));
    assert_memory_equal(d.output.data, "0.00000095367431640625", d.output.size);
    output_free(&d.output);
}

static void writes_doubles_that_read_back(void **state) {
    (void)state;
    const double values[] = {0, 1.046, 0.1, 1e300, -2.5e-10, 1.0 / 3, 123456789.123456789};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct document d;
        begin(&d);
        json_write_double(&d.w, values[i]);
        json_t *read = end(&d);
        assert_true(json_number_value(read) == values[i]);
        json_decref(read);
    }
    struct document d;
    begin(&d);
    json_write_double(&d.w, NAN);
    json_t *read = end(&d);
    assert_true(json_is_null(read));
    json_decref(read);
}

struct text_case {
    const char *in;
    size_t in_size;
    const char *out;
};

#define CASE(in, out)                                                                                                  \
    { in, sizeof(in) - 1, out }

static void repairs_what_is_not_utf8(void **state) {
    (void)state;
    static const struct text_case cases[] = {
        CASE("", ""),
        CASE("plain", "plain"),
        CASE("\"quoted\\\"\n\t\b\f\r", "\"quoted\\\"\n\t\b\f\r"),
        CASE("\x01\x1f\x7f", "\x01\x1f\x7f"),
        CASE("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"),
        CASE("a\xff"
             "b",
             "a\xef\xbf\xbd"
             "b"),
        CASE("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"),
        CASE("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"),
        CASE("\xe2\x82", "\xef\xbf\xbd"),
        CASE("\xf0\x9f\x98"
             "x",
             "\xef\xbf\xbd"
             "x"),
        CASE("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"),
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct document d;
        begin(&d);
        json_write_string(&d.w, (struct bytes){(const uint8_t *)cases[i].in, cases[i].in_size});
        json_t *read = end(&d);
        assert_string_equal(json_string_value(read), cases[i].out);
        json_decref(read);
    }
}

static void any_bytes_give_valid_json(void **state) {
    (void)state;
    uint64_t seed = 42;
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[24];
        for (size_t k = 0; k < sizeof bytes; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[k] = (uint8_t)(seed >> 56);
            if (bytes[k] == 0) bytes[k] = 0xE2;
        }
        struct document d;
        begin(&d);
        json_write_string(&d.w, (struct bytes){bytes, sizeof bytes});
        json_decref(end(&d));
    }
}

static void stops_at_the_limit(void **state) {
    (void)state;
    struct output output;
    output_init(&output, 100);
    struct json_writer w = json_writer_on(&output);
    json_open_array(&w);
    for (int i = 0; i < 1000; i++) json_write_int64(&w, INT64_MIN);
    json_write_int64_column(&w, "x", (const int64_t[]){1, 2}, 2);
    json_close_array(&w);
    assert_true(output.failed);
    assert_true(output.size <= 100);
    output_free(&output);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nests_with_commas_in_the_right_places),
        cmocka_unit_test(writes_every_int64),
        cmocka_unit_test(writes_columns),
        cmocka_unit_test(writes_exact_mib),
        cmocka_unit_test(writes_mib_to_the_last_digit),
        cmocka_unit_test(writes_doubles_that_read_back),
        cmocka_unit_test(repairs_what_is_not_utf8),
        cmocka_unit_test(any_bytes_give_valid_json),
        cmocka_unit_test(stops_at_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
