// The bulk documents, parsed back by jansson: they are JSON, and their columns fit each other.
#include <jansson.h>

#include "server/document/buffer_json.h"
#include "server/document/memory_view_document.h"
#include "server/text/json_writer.h"
#include "server/xprof/xprof_memory_viewer.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

struct fixture {
    struct hlo_build build;
    struct arena arena;
    struct hlo_module module;
    struct output output;
    struct json_writer writer;
    struct error error;
};

// A parameter, and two temporaries whose names are hostile; a small one so that XProf merges it.
static void open_fixture(struct fixture *f) {
    *f = (struct fixture){0};
    hlo_build_instruction(&f->build, 1, "p \"quoted\"\n", 100);
    hlo_build_instruction(&f->build, 2, "t\xff\xfe</script>", 5000);
    hlo_build_buffer(&f->build, 10, 1, 1 << 20, 0);
    hlo_build_buffer(&f->build, 20, 2, 20480, 0);
    hlo_build_buffer(&f->build, 21, 2, 256, 0);
    hlo_build_allocation(&f->build,
                         (struct hlo_build_allocation){.size = 1 << 20, .is_parameter = true, .buffers = {10}});
    hlo_build_allocation(&f->build, (struct hlo_build_allocation){
                                        .index = 1, .size = 32768, .buffers = {20, 21}, .offsets = {0, 20480}});
    hlo_build_event(&f->build, HLO_EVENT_ALLOC, 20, 0);
    hlo_build_event(&f->build, HLO_EVENT_ALLOC, 21, 0);
    hlo_build_event(&f->build, HLO_EVENT_FREE, 20, 0);
    hlo_build_end_trace(&f->build);
    arena_init(&f->arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&f->build), &f->arena, &f->module, &f->error));
    output_init(&f->output, 1 << 20);
    f->writer = json_writer_on(&f->output);
}

static void close_fixture(struct fixture *f) {
    output_free(&f->output);
    arena_free(&f->arena);
    hlo_build_free(&f->build);
}

static json_t *parse(const struct fixture *f) {
    json_error_t error;
    json_t *document = json_loadb(f->output.data, f->output.size, JSON_REJECT_DUPLICATES, &error);
    if (!document) fail_msg("not JSON at byte %d: %s", error.position, error.text);
    return document;
}

static void the_memory_view_is_columns_of_one_length(void **state) {
    (void)state;
    struct fixture f;
    struct memory_view view;
    open_fixture(&f);
    assert_true(memory_view_build(&f.module, 0, MEMORY_VIEW_EXACT, &f.arena, &view, &f.error));
    struct memory_view_document document = {
        .session = "s", .host = "h", .module = "m(1)", .view = &view, .xprof_reason = "a reason"};
    assert_true(memory_view_json_write(&document, &f.arena, &f.writer, &f.error));
    json_t *json = parse(&f), *buffers = json_object_get(json, "buffers"), *strings = json_object_get(json, "strings");
    const char *key;
    json_t *column;
    json_object_foreach(buffers, key, column) {
        assert_int_equal(json_array_size(column), 3);
    }
    json_t *program = json_object_get(json, "program");
    assert_int_equal(json_integer_value(json_object_get(program, "steps")), 3);
    assert_int_equal(json_array_size(json_object_get(program, "heap_bytes")), 4);
    assert_int_equal(json_array_size(json_object_get(program, "unpadded_bytes")), 4);
    size_t name = (size_t)json_integer_value(json_array_get(json_object_get(buffers, "instruction"), 1));
    assert_string_equal(json_string_value(json_array_get(strings, name)), "t\xef\xbf\xbd\xef\xbf\xbd</script>");
    assert_true(json_is_null(json_object_get(json, "xprof")));
    assert_int_equal(json_array_size(json_object_get(json, "at_peak")), 3);
    json_decref(json);
    close_fixture(&f);
}

static void xprofs_answer_merges_small_buffers(void **state) {
    (void)state;
    struct fixture f;
    struct memory_view view;
    open_fixture(&f);
    assert_true(memory_view_build(&f.module, 0, MEMORY_VIEW_AS_XPROF, &f.arena, &view, &f.error));
    struct scoped_vmem none = {0};
    assert_true(xprof_memory_viewer_write(&view, none, &f.arena, &f.writer, &f.error));
    json_t *json = parse(&f), *bars = json_object_get(json, "maxHeap");
    assert_int_equal(json_array_size(bars), 3);
    assert_string_equal(json_string_value(json_object_get(json_array_get(bars, 2), "label")), "small (<16384 bytes)");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(bars, 2), "logicalBufferId")), -1);
    assert_int_equal(json_array_size(json_object_get(json, "heapSizes")), 4);
    assert_null(json_object_get(json, "nonReusableMib"));  // zero is left out
    json_decref(json);
    close_fixture(&f);
}

static void a_buffer_tells_its_padding_and_lifetime(void **state) {
    (void)state;
    struct fixture f;
    struct memory_view view;
    open_fixture(&f);
    assert_true(memory_view_build(&f.module, 0, MEMORY_VIEW_EXACT, &f.arena, &view, &f.error));
    struct buffer_teller teller;
    assert_true(buffer_teller_init(&teller, &view, &f.arena, &f.error));
    assert_true(buffer_json_write(&teller, 1, buffer_row_of(&view, 1), &f.writer, &f.error));
    json_t *json = parse(&f);
    assert_int_equal(json_integer_value(json_object_get(json, "padding_bytes")), 480);
    assert_int_equal(json_integer_value(json_object_get(json, "end_step")), 2);
    assert_string_equal(json_string_value(json_object_get(json, "category")), "temporary");
    assert_int_equal(json_array_size(json_object_get(json, "dimensions")), 1);
    json_decref(json);
    close_fixture(&f);
}

static void equal_texts_share_an_index(void **state) {
    (void)state;
    struct arena arena;
    struct string_table table;
    arena_init(&arena, 0);
    assert_true(string_table_init(&table, &arena));
    for (uint32_t i = 0; i < 5000; i++) {
        char *text = arena_printf(&arena, "name %u", i);
        assert_int_equal(string_table_put(&table, bytes_of(text)), i + 1);
    }
    assert_int_equal(string_table_put(&table, BYTES("name 4321")), 4322);
    assert_int_equal(string_table_put(&table, BYTES("")), 0);
    arena_free(&arena);
}

static void a_full_arena_is_remembered(void **state) {
    (void)state;
    struct arena arena;
    struct string_table table;
    arena_init(&arena, 96 << 10);
    assert_true(string_table_init(&table, &arena));
    char texts[4000][8];
    for (int i = 0; i < 4000; i++) {
        snprintf(texts[i], sizeof texts[i], "%x", (unsigned)i & 0xffff);
        string_table_put(&table, bytes_of(texts[i]));
    }
    assert_true(string_table_has_failed(&table));
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_memory_view_is_columns_of_one_length),
        cmocka_unit_test(xprofs_answer_merges_small_buffers),
        cmocka_unit_test(a_buffer_tells_its_padding_and_lifetime),
        cmocka_unit_test(equal_texts_share_an_index),
        cmocka_unit_test(a_full_arena_is_remembered),
    };
    return cmocka_run_group_tests_name("documents", tests, NULL, NULL);
}
