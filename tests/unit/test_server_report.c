// The small parts of the report: texts fit for a terminal, tables, sizes, options, and the output that may break.
#include <stdio.h>

#include "tests/unit/cmocka_all.h"

#include <signal.h>
#include <unistd.h>

#include "server/text/printable.h"
#include "analysis/groups/frameworks.h"
#include "analysis/groups/memory_groups.h"
#include "server/command/report_options.h"
#include "server/command/report_sink.h"
#include "analysis/base/size_text.h"
#include "server/text/table.h"

struct scratch {
    struct arena arena;
    struct output output;
};

static int set_up(void **state) {
    static struct scratch scratch;
    arena_init(&scratch.arena, 0);
    output_init(&scratch.output, 1 << 20);
    *state = &scratch;
    return 0;
}

static int tear_down(void **state) {
    struct scratch *scratch = *state;
    output_free(&scratch->output);
    arena_free(&scratch->arena);
    return 0;
}

static void sizes_have_a_unit_and_two_decimals(void **state) {
    (void)state;
    static const struct {
        int64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {-5, "-5 B"},
        {1024, "1.00 KiB"},
        {1048570, "1023.99 KiB"},
        {1048575, "1.00 MiB"},  // not 1024.00 KiB
        {-10485760, "-10.00 MiB"},
        {322122547200, "300.00 GiB"},
        {INT64_MAX, "8.00 EiB"},
        {INT64_MIN, "-8.00 EiB"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[SIZE_TEXT_BYTES];
        assert_string_equal(size_text(cases[i].bytes, text), cases[i].text);
    }
}

static void printable_text_has_no_controls(void **state) {
    struct scratch *s = *state;
    assert_string_equal(printable_text(BYTES("a\x1b[1mb\n\x7f\xC2\x9B"), &s->arena),
                        "a\xEF\xBF\xBD[1mb\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_string_equal(printable_text(BYTES("\xFFx\xC3\xA9"), &s->arena), "\xEF\xBF\xBDx\xC3\xA9");
    assert_string_equal(printable_text(BYTES("a\0b"), &s->arena), "a\xEF\xBF\xBD"
                                                                  "b");
    assert_string_equal(printable_text((struct bytes){0}, &s->arena), "");
}

static void long_names_lose_their_middle(void **state) {
    struct scratch *s = *state;
    static const struct {
        const char *text;
        size_t width;
        const char *shortened;
    } cases[] = {
        {"abcdef", 6, "abcdef"}, {"abcdefg", 6, "abc…fg"}, {"abcdefg", 1, "…"},
        {"abcdefg", 2, "a…"},    {"ééééééé", 5, "éé…éé"},  {"", 3, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *made = printable_shorten(cases[i].text, cases[i].width, &s->arena);
        assert_string_equal(made, cases[i].shortened);
        assert_true(printable_width(made) <= cases[i].width);
    }
}

static const struct table_column columns[] = {
    {"Name", TABLE_SHRINKING, false}, {"Hidden", TABLE_LEFT, true},  {"Size", TABLE_RIGHT, false},
    {"Kind", TABLE_LEFT, false},      {"Where", TABLE_BELOW, false},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static struct table example(struct arena *arena) {
    static const char *const rows[][COLUMNS] = {
        {"short", "x", "1 B", "a|b", ""},
        {"a_rather_long_name_of_something", "x", "1023.99 GiB", "", "/home/<u>/train.py:12"},
    };
    struct table table = table_make(columns, COLUMNS, arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) table_add(&table, rows[i], COLUMNS);
    return table;
}

static void assert_written(const struct output *output, const char *expected) {
    assert_int_equal(output->size, strlen(expected));
    assert_memory_equal(output->data, expected, output->size);
}

static void text_tables_fit(void **state) {
    struct scratch *s = *state;
    struct table table = example(&s->arena);
    table_write_text(&table, 32, &s->output);
    assert_written(&s->output, "NAME                  SIZE  KIND\n"
                               "short                  1 B  a|b\n"
                               "a_rath…ething  1023.99 GiB\n"
                               "      /home/<u>/train.py:12\n");
}

static void numbers_stay_whole_where_nothing_fits(void **state) {
    struct scratch *s = *state;
    struct table table = example(&s->arena);
    table_write_text(&table, 5, &s->output);
    assert_non_null(strstr(printable_text(output_bytes(&s->output), &s->arena), "1023.99 GiB"));
}

static void markdown_tables_are_escaped(void **state) {
    struct scratch *s = *state;
    struct table table = example(&s->arena);
    table_write_markdown(&table, &s->output);
    assert_written(&s->output, "| Name | Size | Kind | Where |\n"
                               "| --- | ---: | --- | --- |\n"
                               "| short | 1 B | a\\|b |  |\n"
                               "| a_rather_long_name_of_something | 1023.99 GiB |  | /home/&lt;u>/train.py:12 |\n");
}

static void tables_grow(void **state) {
    struct scratch *s = *state;
    enum { ROWS = 1000 };
    struct table table = table_make(columns, COLUMNS, &s->arena);
    for (int i = 0; i < ROWS; i++) {
        char name[16];
        snprintf(name, sizeof name, "row %d", i);
        TABLE_ADD(&table, name);
    }
    assert_int_equal(table.row_count, ROWS);
    assert_string_equal(table.cells[0], "row 0");
    assert_string_equal(table.cells[(size_t)(ROWS - 1) * COLUMNS], "row 999");
}

static bool parse(struct report_options *options, int count, const char *const *words, char *problem) {
    return report_options_parse(count, (char *const *)(uintptr_t)words, options, problem);
}

static void options_have_defaults_by_format(void **state) {
    (void)state;
    static const char *const text[] = {"p"}, *const json[] = {"--format", "json", "p", "--memory_space=hbm"};
    struct report_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    assert_true(parse(&options, 1, text, problem));
    assert_int_equal(options.top, 10);
    assert_int_equal(options.space, REPORT_ALL);
    assert_true(parse(&options, 4, json, problem));
    assert_int_equal(options.top, REPORT_ALL);
    assert_int_equal(options.space, 0);
    assert_string_equal(options.path, "p");
}

static void groups_are_asked_for_by_key_or_step(void **state) {
    (void)state;
    static const char *const nothing[] = {"p"}, *const key[] = {"p", "--by=phase", "--frameworks=+mine"},
                             *const step[] = {"p", "--step=7"}, *const wrong[] = {"p", "--by=sources"};
    struct report_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    assert_true(parse(&options, 1, nothing, problem));
    assert_false(options.has_groups);
    assert_int_equal(options.by, GROUP_BY_SOURCE);
    assert_int_equal(options.step, MEMORY_GROUPS_AT_PEAK);
    assert_string_equal(options.frameworks, FRAMEWORKS_DEFAULT);
    assert_true(parse(&options, 3, key, problem) && options.has_groups);
    assert_int_equal(options.by, GROUP_BY_PHASE);
    assert_string_equal(options.frameworks, "+mine");
    assert_true(parse(&options, 2, step, problem) && options.has_groups);
    assert_int_equal(options.step, 7);
    assert_false(parse(&options, 2, wrong, problem));
}

static void options_are_of_their_tool(void **state) {
    (void)state;
    static const char *const profile[] = {"p", "--tool=memory_profile", "--host=h", "--memory_id=i",
                                          "--fail_over=2GiB"};
    static const char *const viewer[] = {"p", "--tool=memory_viewer"};
    static const char *const wrong[][3] = {{"p", "--tool=memory_profile", "--module=m"},
                                           {"p", "--tool=memory_profile", "--memory-space=1"},
                                           {"p", "--tool=memory_profile", "--fail-over=2XB"},
                                           {"p", "--tool=memory_viewer", "--host=h"},
                                           {"p", "--tool=memory_viewer", "--memory-id=i"},
                                           {"p", "--tool=memory_profile", "--of=total"},
                                           {"p", "--tool=memory", "--top=1"}};
    struct report_options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    assert_true(parse(&options, 5, profile, problem));
    assert_int_equal(options.tool, REPORT_MEMORY_PROFILE);
    assert_string_equal(options.host, "h");
    assert_string_equal(options.memory_id, "i");
    assert_int_equal(options.fail_over_bytes, INT64_C(2) << 30);
    assert_true(parse(&options, 2, viewer, problem));
    assert_int_equal(options.tool, REPORT_MEMORY_VIEWER);
    assert_int_equal(options.fail_over_bytes, REPORT_ALL);
    static const char *const limited[] = {"p", "--fail-over=1MiB", "--of=total"};
    assert_true(parse(&options, 3, limited, problem));
    assert_int_equal(options.fail_over_bytes, 1 << 20);
    assert_int_equal(options.fail_of, FIGURE_TOTAL);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) assert_false(parse(&options, 3, wrong[i], problem));
}

static void the_sink_bears_a_closed_pipe(void **state) {
    (void)state;
    int ends[2];
    struct report_sink sink;
    const char *problem;
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    report_sink_init(&sink, ends[1]);
    output_append(&sink.output, BYTES("text"));
    assert_true(report_sink_finish(&sink, &problem));
    assert_false(report_sink_is_open(&sink));
    close(ends[1]);
    report_sink_free(&sink);
}

static void the_sink_tells_what_failed(void **state) {
    (void)state;
    struct report_sink sink;
    const char *problem;
    report_sink_init(&sink, -1);
    output_append(&sink.output, BYTES("text"));
    assert_false(report_sink_finish(&sink, &problem));
    assert_string_equal(problem, "Bad file descriptor");
    report_sink_free(&sink);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sizes_have_a_unit_and_two_decimals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(printable_text_has_no_controls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_names_lose_their_middle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_tables_fit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(numbers_stay_whole_where_nothing_fits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(markdown_tables_are_escaped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tables_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(options_have_defaults_by_format, set_up, tear_down),
        cmocka_unit_test_setup_teardown(groups_are_asked_for_by_key_or_step, set_up, tear_down),
        cmocka_unit_test_setup_teardown(options_are_of_their_tool, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_sink_bears_a_closed_pipe, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_sink_tells_what_failed, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
