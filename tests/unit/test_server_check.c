// What a check tells while it runs: which of it is kept, and which is refused.
#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/base/memory_room.h"
#include "server/document/check_progress.h"
#include "server/live/check_board.h"

// --- What is kept ---

static const struct checked_program program_f = {"a", "jit_f(1)"};

static void put(struct check_board *board, const struct checked_program *program, const char *text, int64_t now_ms) {
    assert_true(check_board_put(board, program, bytes_of(text), now_ms));
}

// What is told of the program at 1000 ms; "" where nothing is.
static struct output read_at_1000(struct check_board *board, const struct checked_program *program, int64_t *age_ms) {
    struct output text;
    output_init(&text, OUTPUT_LIMIT_BYTES);
    *age_ms = -1;
    bool is_there = check_board_read(board, program, 1000, &text, age_ms);
    assert_int_equal(is_there, *age_ms >= 0);
    output_append_char(&text, '\0');
    return text;
}

static void assert_told(struct check_board *board, const struct checked_program *program, const char *text,
                        int64_t age_ms) {
    int64_t found_ms;
    struct output found = read_at_1000(board, program, &found_ms);
    assert_string_equal(found.data, text);
    assert_int_equal(found_ms, age_ms);
    output_free(&found);
}

static void the_newest_of_each_program_is_kept(void **state) {
    (void)state;
    struct check_board *board = check_board_new();
    const struct checked_program other = {"a", "jit_g(2)"}, elsewhere = {"b", "jit_f(1)"}, split = {"", "a"};
    assert_told(board, &program_f, "", -1);
    put(board, &program_f, "first", 100);
    put(board, &other, "of g", 150);
    put(board, &program_f, "second", 400);
    assert_told(board, &program_f, "second", 600);
    assert_told(board, &other, "of g", 850);
    assert_told(board, &elsewhere, "", -1);
    assert_told(board, &split, "", -1);
    check_board_free(board);
}

static struct checked_program numbered(char name[16], int number) {
    snprintf(name, 16, "jit_f(%d)", number);
    return (struct checked_program){"a", name};
}

static void one_more_takes_the_place_of_the_oldest_news(void **state) {
    (void)state;
    char name[16];
    struct check_board *board = check_board_new();
    for (int i = 0; i < CHECK_BOARD_MAX; i++) {
        const struct checked_program program = numbered(name, i);
        put(board, &program, name, i);
    }
    const struct checked_program first = numbered(name, 0);
    put(board, &first, "again", 500);  // so the second one is the oldest
    put(board, &program_f, "f", 501);
    assert_told(board, &program_f, "f", 499);
    assert_told(board, &first, "again", 500);
    const struct checked_program more = {"b", "jit_f"};
    put(board, &more, "more", 502);
    const struct checked_program gone = numbered(name, 2);
    assert_told(board, &gone, "", -1);
    const struct checked_program stays = numbered(name, 3);
    assert_told(board, &stays, "jit_f(3)", 997);
    check_board_free(board);
}

static void what_is_too_long_leaves_what_was_told(void **state) {
    (void)state;
    struct check_board *board = check_board_new();
    char *text = calloc(1, CHECK_TEXT_MAX_BYTES + 1);
    memset(text, 'x', CHECK_TEXT_MAX_BYTES + 1);
    put(board, &program_f, "told", 100);
    struct bytes much = {(const uint8_t *)text, CHECK_TEXT_MAX_BYTES + 1}, most = {much.data, CHECK_TEXT_MAX_BYTES};
    assert_false(check_board_put(board, &program_f, much, 200));
    assert_told(board, &program_f, "told", 900);
    assert_true(check_board_put(board, &program_f, most, 200));
    text[CHECK_NAME_MAX_BYTES] = '\0';
    const struct checked_program long_session = {text, "m"}, long_module = {"s", text};
    assert_false(check_board_put(board, &long_session, BYTES("x"), 200));
    assert_false(check_board_put(board, &long_module, BYTES("x"), 200));
    free(text);
    check_board_free(board);
}

static void what_is_kept_is_counted(void **state) {
    (void)state;
    size_t before = memory_room_taken();
    struct check_board *board = check_board_new();
    void *zeros = calloc(1, CHECK_TEXT_MAX_BYTES);
    struct bytes text = {zeros, CHECK_TEXT_MAX_BYTES};
    for (int i = 0; i < 3; i++) assert_true(check_board_put(board, &program_f, text, i));
    assert_in_range(memory_room_taken() - before, CHECK_TEXT_MAX_BYTES, 2 * CHECK_TEXT_MAX_BYTES);
    check_board_free(board);
    assert_int_equal(memory_room_taken(), before);
    free(zeros);
}

// --- What is refused ---

#define ROW_WITH(status, total)                                                                                        \
    "{\"id\":\"as_it_is\",\"name\":\"as it is\",\"predicted_total_bytes\":" total                                      \
    ",\"low_bytes\":null,\"high_bytes\":null,\"compiled_total_bytes\":7,\"is_inside\":null,\"status\":\"" status       \
    "\",\"reason\":null,\"seconds\":8.1}"
#define MEMBERS_WITH(state, total, rows)                                                                               \
    "\"state\":\"" state "\",\"asked\":\"changes\",\"target\":\"v5e:2x2\",\"compiler\":null,\"total\":" total          \
    ",\"compiled\":1,\"compiling\":\"donate <b>it</b>\",\"reason\":null,\"rows\":[" rows "]"
#define ROW ROW_WITH("compiled", "7")
#define MEMBERS MEMBERS_WITH("running", "3", ROW)

static void assert_refused(const char *body, const char *why) {
    struct output members;
    struct error error;
    size_t rows;
    output_init(&members, OUTPUT_LIMIT_BYTES);
    assert_false(check_progress_read(bytes_of(body), &members, &rows, &error));
    assert_int_equal(error.code, ERROR_BAD_REQUEST);
    if (!strstr(error.message, why)) fail_msg("%s: %s", body, error.message);
    output_free(&members);
}

static void what_is_told_is_written_as_it_was(void **state) {
    (void)state;
    struct output members;
    struct error error;
    size_t rows;
    output_init(&members, OUTPUT_LIMIT_BYTES);
    assert_true(check_progress_read(BYTES(" {" MEMBERS "} "), &members, &rows, &error));
    assert_int_equal(rows, 1);
    output_append_char(&members, '\0');
    assert_string_equal(members.data, MEMBERS);
    output_free(&members);
}

static void what_it_may_not_be_is_named(void **state) {
    (void)state;
    assert_refused("", "must be JSON");
    assert_refused("{" MEMBERS, "must be JSON");
    assert_refused("[]", "the body must be a JSON object");
    assert_refused("{}", "\"state\" of the body");
    assert_refused("{" MEMBERS_WITH("over", "3", ROW) "}", "\"state\" of the body");
    assert_refused("{" MEMBERS_WITH("running", "-1", ROW) "}", "\"total\" of the body");
    assert_refused("{" MEMBERS_WITH("running", "101", ROW) "}", "\"total\" of the body");
    assert_refused("{" MEMBERS_WITH("running", "1.5", ROW) "}", "\"total\" of the body");
    assert_refused("{" MEMBERS_WITH("running", "3", "7") "}", "a row must be a JSON object");
    assert_refused("{" MEMBERS_WITH("running", "3", "{}") "}", "\"id\" of a row");
    assert_refused("{" MEMBERS_WITH("running", "3", ROW_WITH("good", "7")) "}", "\"status\" of a row");
    assert_refused("{" MEMBERS_WITH("running", "3", ROW_WITH("compiled", "-7")) "}", "\"predicted_total_bytes\"");
    assert_refused("{" MEMBERS_WITH("running", "3", ROW_WITH("compiled", "\"7\"")) "}", "\"predicted_total_bytes\"");
    assert_refused("{" MEMBERS_WITH("running", "3", ROW_WITH("compiled", "9e18")) "}", "\"predicted_total_bytes\"");
    assert_refused("{" MEMBERS ",\"html\":\"<b>\"}", "a member that is not known");
    assert_refused("{" MEMBERS ",\"total\":4}", "must be JSON");
}

static void a_text_and_a_list_have_their_limits(void **state) {
    (void)state;
    char text[2002], body[4096];
    struct output rows;
    output_init(&rows, OUTPUT_LIMIT_BYTES);
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    snprintf(body, sizeof body, "{" MEMBERS_WITH("%s", "3", ROW) "}", text);
    assert_refused(body, "\"state\"");
    snprintf(body, sizeof body, "{\"state\":\"done\",\"asked\":\"flags\",\"target\":\"%s\"}", text);
    assert_refused(body, "\"target\" of the body must be a text of at most 2000 bytes, or null");
    output_put(&rows, "{" MEMBERS_WITH("running", "3", ROW));
    rows.size -= 1;  // the array goes on
    for (int i = 0; i < CHECK_ROWS_MAX; i++) output_put(&rows, "," ROW);
    output_append(&rows, (struct bytes){(const uint8_t *)"]}", 3});
    assert_refused(rows.data, "\"rows\" of the body must be an array of at most 100 rows");
    output_free(&rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_newest_of_each_program_is_kept),
        cmocka_unit_test(one_more_takes_the_place_of_the_oldest_news),
        cmocka_unit_test(what_is_too_long_leaves_what_was_told),
        cmocka_unit_test(what_is_kept_is_counted),
        cmocka_unit_test(what_is_told_is_written_as_it_was),
        cmocka_unit_test(what_it_may_not_be_is_named),
        cmocka_unit_test(a_text_and_a_list_have_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
