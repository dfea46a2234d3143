#include "server/mcp/mcp_message.h"
#include "server/text/json_short.h"

#include "tests/unit/cmocka_all.h"

// --- Messages ---

static void assert_bad(const char *line, enum mcp_error_code code, bool has_id) {
    struct mcp_message message;
    mcp_message_read(bytes_of(line), &message);
    assert_int_equal(message.kind, MCP_BAD);
    assert_int_equal(message.code, code);
    assert_int_equal(message.id != NULL, has_id);
    assert_non_null(message.problem);
    mcp_message_free(&message);
}

static void assert_kind(const char *line, enum mcp_message_kind kind) {
    struct mcp_message message;
    mcp_message_read(bytes_of(line), &message);
    assert_int_equal(message.kind, kind);
    mcp_message_free(&message);
}

static void messages_are_told_apart(void **state) {
    (void)state;
    assert_kind("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}", MCP_REQUEST);
    assert_kind("{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\",\"params\":{}}", MCP_REQUEST);
    assert_kind("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", MCP_NOTIFICATION);
    assert_kind("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", MCP_ANSWER);
}

static void what_is_no_message_has_its_code(void **state) {
    (void)state;
    assert_bad("", MCP_PARSE_ERROR, false);
    assert_bad("{", MCP_PARSE_ERROR, false);
    assert_bad("\"\xff\"", MCP_PARSE_ERROR, false);
    assert_bad("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", MCP_PARSE_ERROR, false);
    assert_bad("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", MCP_INVALID_REQUEST, false);
    assert_bad("{\"id\":1,\"method\":\"ping\"}", MCP_INVALID_REQUEST, true);
    assert_bad("{\"jsonrpc\":\"2.0\",\"id\":1}", MCP_INVALID_REQUEST, true);
    assert_bad("{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", MCP_INVALID_REQUEST, false);
    assert_bad("{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", MCP_INVALID_REQUEST, false);
    assert_bad("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":[]}", MCP_INVALID_PARAMS, true);
}

static void nesting_ends(void **state) {
    enum { DEPTH = 100000 };
    static char line[DEPTH];
    (void)state;
    for (size_t i = 0; i < DEPTH - 1; i++) line[i] = '[';
    assert_bad(line, MCP_PARSE_ERROR, false);
}

// --- Short documents ---

static void assert_short(const char *document, size_t top, const char *expected) {
    json_t *long_one = json_loads(document, 0, NULL), *short_one = json_loads(expected, 0, NULL);
    assert_non_null(short_one);
    json_shorten(long_one, top);
    assert_true(json_equal(long_one, short_one));
    json_decref(long_one);
    json_decref(short_one);
}

static void lists_are_cut_and_counted(void **state) {
    (void)state;
    assert_short("{\"a\":[{\"x\":1},{\"x\":2},{\"x\":3}]}", 1, "{\"a\":[{\"x\":1}],\"a_left_out\":2}");
    assert_short("{\"a\":[{\"x\":1}]}", 1, "{\"a\":[{\"x\":1}]}");
    assert_short("{\"a\":[{\"b\":[{},{}]},{}]}", 1, "{\"a\":[{\"b\":[{}],\"b_left_out\":1}],\"a_left_out\":1}");
}

static void counts_that_are_there_grow(void **state) {
    (void)state;
    assert_short("{\"largest\":[{\"size_bytes\":5},{\"size_bytes\":3}],\"largest_left_out\":4}", 1,
                 "{\"largest\":[{\"size_bytes\":5}],\"largest_left_out\":5,\"largest_left_out_bytes\":3}");
    assert_short("{\"rows\":[{\"size_bytes\":5},{\"size_bytes\":3}],\"left_out\":4,\"left_out_bytes\":9}", 1,
                 "{\"rows\":[{\"size_bytes\":5}],\"left_out\":5,\"left_out_bytes\":12}");
    assert_short("{\"a\":[{},{}],\"left_out\":[{\"path\":\"p\"}]}", 1,
                 "{\"a\":[{}],\"left_out\":[{\"path\":\"p\"}],\"a_left_out\":1}");
}

static void texts_stay_whole(void **state) {
    (void)state;
    assert_short("{\"notes\":[\"a\",\"b\",\"c\"],\"n\":[1,2,3]}", 1, "{\"notes\":[\"a\",\"b\",\"c\"],\"n\":[1,2,3]}");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_told_apart),
        cmocka_unit_test(what_is_no_message_has_its_code),
        cmocka_unit_test(nesting_ends),
        cmocka_unit_test(lists_are_cut_and_counted),
        cmocka_unit_test(counts_that_are_there_grow),
        cmocka_unit_test(texts_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
