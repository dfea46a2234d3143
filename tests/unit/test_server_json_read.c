// JSON as it is read, beside jansson itself; tests/faults asks for it while memory is short.
#include <string.h>

#include "analysis/base/memory_room.h"
#include "analysis/base/refused_memory.h"
#include "server/json_read.h"
#include "tests/unit/cmocka_all.h"

static struct bytes text_of(const char *text) {
    return (struct bytes){(const uint8_t *)text, strlen(text)};
}

static int begin(void **state) {
    (void)state;
    json_read_begin();
    return 0;
}

static void test_a_document_is_what_jansson_makes_of_it(void **state) {
    (void)state;
    const char *text = "{\"a\": [1, 2.5, \"\\u00e9\\\"\", null, true], \"b\": {\"c\": {}}}";
    json_t *document = json_read(text_of(text), 0, NULL), *expected = json_loads(text, 0, NULL);
    assert_non_null(document);
    assert_true(json_equal(document, expected));
    json_decref(document);
    json_decref(expected);
}

static void test_a_long_document_outlives_the_next_reading(void **state) {
    (void)state;
    enum { COUNT = 5000 };
    char text[8 * COUNT];
    size_t size = 0;
    for (int i = 0; i < COUNT; i++)
        size += (size_t)snprintf(text + size, sizeof text - size, "%c\"%d\"", i ? ',' : '[', i);
    size += (size_t)snprintf(text + size, sizeof text - size, "]");
    json_t *first = json_read((struct bytes){(const uint8_t *)text, size}, 0, NULL);
    json_t *second = json_read(text_of("[[[]]]"), 0, NULL);
    assert_int_equal(COUNT, json_array_size(first));
    assert_string_equal("4999", json_string_value(json_array_get(first, COUNT - 1)));
    json_decref(first);
    assert_int_equal(1, json_array_size(second));
    json_decref(second);
}

// What was read of it goes from its beginning, a thousand times as much as is looked at to find it.
static void test_a_long_list_without_an_end_is_given_up_at_once(void **state) {
    (void)state;
    enum { BYTES = 4 << 20 };
    char *text = malloc(BYTES);
    assert_non_null(text);
    for (int i = 0; i < BYTES; i++) text[i] = i % 2 ? ',' : '1';
    text[0] = '[';
    text[1] = ' ';
    assert_null(json_read((struct bytes){(const uint8_t *)text, BYTES}, 0, NULL));
    free(text);
    json_t *replaced = json_read(text_of("{\"a\": [[1], [2], [3], {\"b\": \"c\"}], \"a\": 0}"), 0, NULL);
    assert_int_equal(0, json_integer_value(json_object_get(replaced, "a")));
    json_decref(replaced);
}

static void test_what_is_no_json_is_placed(void **state) {
    (void)state;
    json_error_t fault;
    assert_null(json_read(text_of("{\"a\": 1,}"), 0, &fault));
    assert_int_equal(9, fault.position);
    assert_true(strstr(fault.text, "string or '}' expected") != NULL);
    assert_null(json_read((struct bytes){(const uint8_t *)"[\"never ended", 13}, 0, &fault));
    assert_null(json_read((struct bytes){NULL, 0}, 0, &fault));
}

// --- What it takes ---

static const size_t MANY_BYTES = 3 << 20;

// Empty objects: as a tree some eighty times as much.
static char *many_objects(void) {
    char *text = malloc(MANY_BYTES);
    assert_non_null(text);
    for (size_t i = 0; i < MANY_BYTES; i++) text[i] = "{},"[i % 3];
    text[0] = '[';
    text[1] = ' ';
    text[2] = ' ';
    text[MANY_BYTES - 1] = ']';
    return text;
}

static int end_limit(void **state) {
    (void)state;
    memory_room_set(0, NULL, NULL);
    return memory_room_taken() ? 1 : 0;
}

static void test_a_tree_counts_until_it_is_given_back(void **state) {
    (void)state;
    char *text = many_objects();
    json_t *document = json_read((struct bytes){(const uint8_t *)text, MANY_BYTES}, 0, NULL);
    assert_in_range(memory_room_taken(), 20 * MANY_BYTES, 200 * MANY_BYTES);
    size_t before = memory_room_taken();
    char *written = json_dumps(document, JSON_COMPACT);
    assert_in_range(memory_room_taken() - before, MANY_BYTES / 2, 3 * MANY_BYTES);
    json_text_free(written);
    assert_int_equal(memory_room_taken(), before);
    json_decref(document);
    assert_int_equal(memory_room_taken(), 0);
    free(text);
}

static void test_a_tree_beyond_the_limit_is_refused(void **state) {
    (void)state;
    char *text = many_objects();
    json_error_t fault;
    struct error error;
    uint64_t before = memory_refusals();
    memory_room_set(20 * MANY_BYTES, NULL, NULL);
    assert_null(json_read((struct bytes){(const uint8_t *)text, MANY_BYTES}, 0, &fault));
    assert_true(memory_was_refused(before, &error));
    assert_int_equal(error.code, ERROR_NO_MEMORY);
    assert_string_equal(fault.text, "there was no memory for it");
    assert_int_equal(memory_room_taken(), 0);
    free(text);
}

static void test_a_text_may_be_given_less(void **state) {
    (void)state;
    char *text = many_objects();
    struct bytes all = {(const uint8_t *)text, MANY_BYTES};
    json_error_t fault;
    uint64_t before = memory_refusals();
    assert_null(json_read_within(all, 0, 20 * MANY_BYTES, &fault));
    assert_non_null(strstr(fault.text, "more memory than such a text may"));
    assert_int_equal(memory_refusals(), before);
    assert_int_equal(memory_room_taken(), 0);
    json_t *document = json_read_within(all, 0, 200 * MANY_BYTES, &fault);
    assert_non_null(document);
    json_decref(document);
    free(text);
}

// The letters of a text are copied as it grows; what was given up on the way does not count.
static void test_a_long_text_takes_its_bytes_a_few_times(void **state) {
    (void)state;
    char *text = malloc(MANY_BYTES);
    assert_non_null(text);
    memset(text, 'x', MANY_BYTES);
    text[0] = '[';
    text[1] = text[MANY_BYTES - 2] = '"';
    text[MANY_BYTES - 1] = ']';
    json_t *document = json_read_within((struct bytes){(const uint8_t *)text, MANY_BYTES}, 0, 5 * MANY_BYTES, NULL);
    assert_int_equal(json_string_length(json_array_get(document, 0)), MANY_BYTES - 4);
    json_decref(document);
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_document_is_what_jansson_makes_of_it),
        cmocka_unit_test(test_a_long_document_outlives_the_next_reading),
        cmocka_unit_test(test_a_long_list_without_an_end_is_given_up_at_once),
        cmocka_unit_test(test_what_is_no_json_is_placed),
        cmocka_unit_test_teardown(test_a_tree_counts_until_it_is_given_back, end_limit),
        cmocka_unit_test_teardown(test_a_tree_beyond_the_limit_is_refused, end_limit),
        cmocka_unit_test_teardown(test_a_text_may_be_given_less, end_limit),
        cmocka_unit_test_teardown(test_a_long_text_takes_its_bytes_a_few_times, end_limit),
    };
    return cmocka_run_group_tests(tests, begin, NULL);
}
