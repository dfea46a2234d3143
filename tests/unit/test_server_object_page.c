// Lists of objects as servers write them, and as they should not.
#include <stdlib.h>

#include "tests/unit/cmocka_all.h"
#include "server/storage/object_page.h"
#include "server/storage/xml_scan.h"

struct fixture {
    struct arena arena;
    struct object_page page;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    arena_init(&f->arena, 1 << 20);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    arena_free(&f->arena);
    free(f);
    return 0;
}

static void check_object(const struct object_page *page, size_t i, const char *name, uint64_t size_bytes,
                         const char *pin, int64_t modified_s) {
    assert_true(i < page->object_count);
    assert_string_equal(page->objects[i].name, name);
    assert_string_equal(page->objects[i].pin, pin);
    assert_int_equal(page->objects[i].size_bytes, size_bytes);
    assert_int_equal(page->objects[i].modified_s, modified_s);
}

#define LIST(content)                                                                                                  \
    "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3/a>b\">" content "</ListBucketResult>"
#define OBJECT(key) "<Contents><Key>" key "</Key><Size>3</Size></Contents>"

static bool read_s3(struct fixture *f, const char *answer) {
    return object_page_of_s3(bytes_of(answer), &f->arena, &f->page, &f->error);
}

static void s3_objects(void **state) {
    struct fixture *f = *state;
    assert_true(
        read_s3(f, LIST("<Name>b</Name><IsTruncated>true</IsTruncated><Contents><Key>run/a &amp; &#x66;(1).pb</Key>"
                        "<LastModified>2026-11-22T12:00:01.000Z</LastModified><ETag>&quot;ab-1&quot;</ETag>"
                        "<Size>361000000</Size><Owner><ID>Size</ID></Owner></Contents>" OBJECT(
                            "run/") "<NextContinuationToken>t+/=</NextContinuationToken>")));
    assert_int_equal(f->page.object_count, 1);
    check_object(&f->page, 0, "run/a & f(1).pb", 361000000, "\"ab-1\"", 1795348801);
    assert_string_equal(f->page.next, "t+/=");
}

static void s3_names_may_be_escaped(void **state) {
    struct fixture *f = *state;
    assert_true(read_s3(f, LIST(OBJECT("a%20b%2Bc+d%") "<EncodingType>url</EncodingType>")));
    check_object(&f->page, 0, "a b+c d%", 3, "", 0);
    assert_true(read_s3(f, LIST(OBJECT("a%20b+c"))));
    check_object(&f->page, 0, "a%20b+c", 3, "", 0);
    assert_null(f->page.next);
}

static void check_folders(const struct object_page *page) {
    assert_int_equal(page->folder_count, 2);
    assert_string_equal(page->folders[0].name, "run/a b/");
    assert_string_equal(page->folders[1].name, "run/plugins/");
    assert_int_equal(page->object_count, 1);
    assert_int_equal(page->odd_names, 3);
}

static void folders_of_a_level(void **state) {
    struct fixture *f = *state;
    assert_true(
        read_s3(f, LIST("<EncodingType>url</EncodingType><Prefix>run%2F</Prefix><Delimiter>/</Delimiter>" OBJECT(
                       "run/z") "<CommonPrefixes><Prefix>run/a%20b/</Prefix></CommonPrefixes>"
                                "<CommonPrefixes><Prefix>run/plugins/</Prefix><Size>x</Size></CommonPrefixes>"
                                "<CommonPrefixes><Prefix>run/../</Prefix></CommonPrefixes>"
                                "<CommonPrefixes><Prefix>run/no</Prefix></CommonPrefixes><CommonPrefixes/>")));
    check_folders(&f->page);
    static const char answer[] = "{\"items\": [{\"name\": \"run/z\", \"size\": \"3\"}], \"prefixes\": [\"run/a b/\", "
                                 "\"run/plugins/\", \"run//\", \"/\", \"run\"]}";
    assert_true(object_page_of_gcs(bytes_of(answer), &f->arena, &f->page, &f->error));
    check_folders(&f->page);
}

static void an_empty_list(void **state) {
    struct fixture *f = *state;
    assert_true(read_s3(f, "<ListBucketResult/>"));
    assert_int_equal(f->page.object_count, 0);
    assert_true(object_page_of_gcs(BYTES("{\"kind\": \"storage#objects\"}"), &f->arena, &f->page, &f->error));
    assert_int_equal(f->page.object_count, 0);
}

static void odd_names_are_counted(void **state) {
    struct fixture *f = *state;
    assert_true(read_s3(f, LIST(OBJECT("../x") OBJECT("a/./b") OBJECT("/x") OBJECT("a//b") OBJECT("") OBJECT("...")
                                    OBJECT("a/..b") OBJECT("\n"))));
    assert_int_equal(f->page.odd_names, 5);
    assert_int_equal(f->page.object_count, 3);
}

static void check_refused(struct fixture *f, const char *answer, int64_t offset) {
    if (read_s3(f, answer)) fail_msg("%s was taken", answer);
    assert_int_equal(f->error.code, ERROR_MALFORMED);
    if (offset >= 0) assert_int_equal(f->error.offset, offset);
}

static void what_is_no_list(void **state) {
    struct fixture *f = *state;
    check_refused(f, "", 0);
    check_refused(f, "<html></html>", 6);
    check_refused(f, "<ListBucketResult>", 18);
    check_refused(f, "</ListBucketResult>", -1);
    check_refused(f, "<!DOCTYPE x [<!ENTITY a \"b\">]><ListBucketResult/>", 0);
    check_refused(f, LIST("<Contents><Key>a</Key><Size>-1</Size></Contents>"), -1);
    check_refused(f, LIST("<Contents><Key>a</Key><Size>9999999999999999999</Size></Contents>"), -1);
    check_refused(f, LIST("<Contents><Key>a</Key></Contents>"), -1);
    check_refused(f, "<ListBucketResult><!-- ", 18);
}

static void a_cut_list_is_no_list(void **state) {
    struct fixture *f = *state;
    static const char whole[] = LIST(OBJECT("a") OBJECT("b &lt; c"));
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        struct bytes cut = {(const uint8_t *)whole, size};
        if (object_page_of_s3(cut, &f->arena, &f->page, &f->error)) fail_msg("cut at %zu was taken", size);
    }
}

static void gcs_objects(void **state) {
    struct fixture *f = *state;
    static const char answer[] = "{\"items\": [{\"name\": \"run/\\u00fc x.pb\", \"size\": \"12\", \"generation\": "
                                 "\"1700\", \"updated\": \"1970-01-02T00:00:01Z\"}], \"nextPageToken\": \"n\"}";
    assert_true(object_page_of_gcs(bytes_of(answer), &f->arena, &f->page, &f->error));
    check_object(&f->page, 0, "run/\xc3\xbc x.pb", 12, "1700", 86401);
    assert_string_equal(f->page.next, "n");
}

static void what_is_no_gcs_list(void **state) {
    struct fixture *f = *state;
    static const char *const answers[] = {"",
                                          "[]",
                                          "{\"items\": 3}",
                                          "{\"items\": [3]}",
                                          "{\"items\": [",
                                          "{\"prefixes\": [3]}",
                                          "{\"prefixes\": \"run/\"}",
                                          "{\"items\": [{\"name\": \"a\", \"size\": 3}]}"};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        assert_false(object_page_of_gcs(bytes_of(answers[i]), &f->arena, &f->page, &f->error));
        assert_int_equal(f->error.code, ERROR_MALFORMED);
    }
}

// As a text it would be empty: the first page again.
static void a_next_page_that_no_address_has(void **state) {
    struct fixture *f = *state;
    static const char s3[] = LIST("<NextContinuationToken>\0a</NextContinuationToken>");
    static const char gcs[] = "{\"nextPageToken\": \"\\u0000a\"}";
    assert_false(object_page_of_s3(BYTES(s3), &f->arena, &f->page, &f->error));
    assert_int_equal(f->error.code, ERROR_MALFORMED);
    assert_false(object_page_of_gcs(BYTES(gcs), &f->arena, &f->page, &f->error));
    assert_int_equal(f->error.code, ERROR_MALFORMED);
}

static void entities(void **state) {
    struct fixture *f = *state;
    struct bytes text = xml_text(BYTES("&lt;&gt;&#65;&#x20AC;&#x1F600;&nope;&#0;&#xD800;&;& &amp"), &f->arena);
    assert_true(bytes_equal(text, BYTES("<>A\xe2\x82\xac\xf0\x9f\x98\x80&nope;&#0;&#xD800;&;& &amp")));
}

static void times(void **state) {
    (void)state;
    assert_int_equal(object_time(BYTES("2000-02-29T23:59:59Z")), 951868799);
    assert_int_equal(object_time(BYTES("2026-11-22T12:00:00.123Z")), 1795348800);
    assert_int_equal(object_time(BYTES("yesterday, at about noon")), 0);
    assert_int_equal(object_time(BYTES("2026-13-22T12:00:00Z")), 0);
    assert_int_equal(object_time((struct bytes){0}), 0);
    assert_int_equal(object_http_date("Sun, 22 Nov 2026 12:00:00 GMT"), 1795348800);
    assert_int_equal(object_http_date("Tue, 29 Feb 2000 23:59:59 GMT"), 951868799);
    assert_int_equal(object_http_date("Tue, 29 Fob 2000 23:59:59 GMT"), 0);
    assert_int_equal(object_http_date(""), 0);
}

// Each part that a clock or a calendar has not.
static void times_that_are_none(void **state) {
    (void)state;
    static const char *const times[] = {"1969-11-22T12:00:00Z", "2026-00-22T12:00:00Z", "2026-11-32T12:00:00Z",
                                        "2026-11-22 12:00:00Z", "2026-11-22T24:00:00Z", "2026-11-22T12:60:00Z",
                                        "2026-11-22T12:00:61Z", "2026-11-22T12:00",     "2026-11-22T-1:00:00Z"};
    static const char *const dates[] = {"Sun, 00 Nov 2026 12:00:00 GMT", "Sun, 22 Nov 1969 12:00:00 GMT",
                                        "Sun, 22 Nov 2026 24:00:00 GMT", "Sun, 22-Nov-2026 12:00:00 GMT",
                                        "Sun 22 Nov 2026 12:00:00 GMT"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) assert_int_equal(object_time(bytes_of(times[i])), 0);
    for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) assert_int_equal(object_http_date(dates[i]), 0);
}

// It would travel in a header of the next request, and end that.
static void a_version_of_two_lines_is_none(void **state) {
    struct fixture *f = *state;
    assert_true(read_s3(f, LIST("<Contents><Key>a</Key><Size>3</Size><ETag>x&#13;&#10;Host: y</ETag></Contents>"
                                "<Contents><Key>b</Key><Size>3</Size><ETag>x&#127;</ETag></Contents>" OBJECT("c"))));
    assert_int_equal(f->page.odd_names, 2);
    assert_int_equal(f->page.object_count, 1);
    check_object(&f->page, 0, "c", 3, "", 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(s3_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(s3_names_may_be_escaped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(folders_of_a_level, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_empty_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(odd_names_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_list_is_no_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gcs_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_gcs_list, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_next_page_that_no_address_has, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entities, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_version_of_two_lines_is_none, set_up, tear_down),
        cmocka_unit_test(times),
        cmocka_unit_test(times_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
