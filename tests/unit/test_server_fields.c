// One table of fields, three writers: what each kind of value becomes in an object, in columns and in CSV.
#include <math.h>

#include "server/text/fields.h"
#include "tests/unit/cmocka_all.h"

struct row {
    struct bytes name;
    const char *note;
    int32_t line;
    int64_t offset, size;
    uint32_t step, parent;
    uint64_t id, address;
    double share;
    bool is_free, has_share;
};

static const struct field fields[] = {
    FIELD("name", struct row, name),
    FIELD("note", struct row, note),
    FIELD("line", struct row, line),
    FIELD("offset", struct row, offset),
    FIELD_AS("size", struct row, size, FIELD_KNOWN),
    FIELD("step", struct row, step),
    FIELD_AS("parent", struct row, parent, FIELD_INDEX),
    FIELD("id", struct row, id),
    FIELD_AS("address", struct row, address, FIELD_ADDRESS),
    FIELD_IF("share", struct row, share, has_share),
    FIELD("is_free", struct row, is_free),
    FIELD_END,
};

static const struct row rows[] = {
    {{(const uint8_t *)"a,b", 3}, "n", -7, INT64_MIN, 12, 3, 4, UINT64_MAX, 0x7f00, 0.5, true, true},
    {{(const uint8_t *)"c", 1}, NULL, 0, 1, -1, UINT32_MAX, UINT32_MAX, 0, 0, 0.25, false, false},
};
enum { ROW_COUNT = 2 };

static void assert_written(struct output *output, const char *expected) {
    output_append_char(output, '\0');
    assert_string_equal(output->data, expected);
    output_free(output);
}

static void a_row_is_an_object(void **state) {
    (void)state;
    struct output output;
    output_init(&output, 1 << 16);
    struct json_writer w = json_writer_on(&output);
    json_open_object(&w);
    fields_write_objects_key(&w, "rows", fields, rows, ROW_COUNT, sizeof *rows);
    fields_write_object_key(&w, "none", fields, NULL);
    json_close_object(&w);
    assert_written(&output, "{\"rows\":[{\"name\":\"a,b\",\"note\":\"n\",\"line\":-7,\"offset\":-9223372036854775808,"
                            "\"size\":12,\"step\":3,\"parent\":4,\"id\":18446744073709551615,\"address\":\"0x7f00\","
                            "\"share\":0.5,\"is_free\":true},"
                            "{\"name\":\"c\",\"note\":null,\"line\":0,\"offset\":1,\"size\":null,\"step\":4294967295,"
                            "\"parent\":-1,\"id\":0,\"address\":\"0x0\",\"share\":null,\"is_free\":false}],"
                            "\"none\":null}");
}

static void rows_are_columns_with_their_texts_in_a_table(void **state) {
    (void)state;
    struct output output;
    struct arena arena;
    struct string_table strings;
    arena_init(&arena, 0);
    output_init(&output, 1 << 16);
    assert_true(string_table_init(&strings, &arena));
    struct json_writer w = json_writer_on(&output);
    fields_put_strings(fields, rows, ROW_COUNT, sizeof *rows, &strings);
    json_open_object(&w);
    string_table_write(&strings, &w);
    fields_write_columns(&w, fields, rows, ROW_COUNT, sizeof *rows, &strings);
    json_close_object(&w);
    assert_written(&output, "{\"strings\":[\"\",\"a,b\",\"n\",\"c\"],\"name\":[1,3],\"note\":[2,0],\"line\":[-7,0],"
                            "\"offset\":[-9223372036854775808,1],\"size\":[12,null],\"step\":[3,4294967295],"
                            "\"parent\":[4,-1],\"id\":[18446744073709551615,0],\"address\":[\"0x7f00\",\"0x0\"],"
                            "\"share\":[0.5,null],\"is_free\":[true,false]}");
    arena_free(&arena);
}

static void without_a_table_texts_stand_in_their_column(void **state) {
    (void)state;
    static const struct field texts[] = {FIELD("name", struct row, name), FIELD("note", struct row, note), FIELD_END};
    struct output output;
    output_init(&output, 1 << 16);
    struct json_writer w = json_writer_on(&output);
    json_open_object(&w);
    fields_write_columns(&w, texts, rows, ROW_COUNT, sizeof *rows, NULL);
    json_close_object(&w);
    assert_written(&output, "{\"name\":[\"a,b\",\"c\"],\"note\":[\"n\",null]}");
}

static void a_row_is_a_line_of_csv(void **state) {
    (void)state;
    static const struct field cells[] = {
        FIELD("name", struct row, name),
        FIELD("note", struct row, note),
        FIELD("line", struct row, line),
        FIELD_AS("size", struct row, size, FIELD_KNOWN),
        FIELD_AS("parent", struct row, parent, FIELD_INDEX),
        FIELD("id", struct row, id),
        FIELD_END,
    };
    struct output output;
    output_init(&output, 1 << 16);
    struct csv_row csv = {.output = &output};
    fields_write_csv_names(&csv, cells);
    csv_end_row(&csv);
    for (int i = 0; i < ROW_COUNT; i++) {
        fields_write_csv(&csv, cells, &rows[i]);
        csv_end_row(&csv);
    }
    assert_written(&output, "name,note,line,size,parent,id\n"
                            "\"a,b\",n,-7,12,4,18446744073709551615\n"
                            "c,,0,,-1,0\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_an_object),
        cmocka_unit_test(rows_are_columns_with_their_texts_in_a_table),
        cmocka_unit_test(without_a_table_texts_stand_in_their_column),
        cmocka_unit_test(a_row_is_a_line_of_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
