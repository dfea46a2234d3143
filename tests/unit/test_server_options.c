// The command line: both forms of flags, clear sentences for slips.
#include "tests/unit/cmocka_all.h"

#include <string.h>

#include "server/options.h"

enum { WORDS_MAX = 8 };

static bool parse(const char *line, struct options *options, char problem[OPTIONS_PROBLEM_BYTES]) {
    static char copy[256];
    char *words[WORDS_MAX], *rest;
    int count = 0;
    strncpy(copy, line, sizeof copy - 1);
    for (char *word = strtok_r(copy, " ", &rest); word && count < WORDS_MAX; word = strtok_r(NULL, " ", &rest))
        words[count++] = word;
    return options_parse(count, words, options, problem);
}

static void has_defaults(void **state) {
    (void)state;
    struct options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    assert_true(parse("", &options, problem));
    assert_null(options.logdir);
    assert_int_equal(options.port, 6006);
    assert_false(options.bind_all);
    assert_int_equal(options.cache_mib, 160);
    assert_int_equal(options.memory_limit_mib, 0);
}

static void reads_both_forms(void **state) {
    (void)state;
    struct options options;
    char problem[OPTIONS_PROBLEM_BYTES];
    assert_true(parse("--logdir=/a=b --port 7 --verbose --no_token=false -h", &options, problem));
    assert_string_equal(options.logdir, "/a=b");
    assert_int_equal(options.port, 7);
    assert_true(options.verbose);
    assert_false(options.no_token);
    assert_true(options.show_help);
}

static void refuses_with_a_sentence(void **state) {
    (void)state;
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"--prot=1", "did you mean --port?"},
        {"--log_dir /x", "did you mean --logdir?"},
        {"--zzzzzzzzzzzzzz", "see hbmview --help"},
        {"--a_name_that_is_far_longer_than_any_flag_could_ever_be_and_then_some_more_of_it", "no flag"},
        {"--port=abc", "number from 0 to 65535"},
        {"--port=70000", "number from 0 to 65535"},
        {"--port=", "number"},
        {"--port", "number"},
        {"--logdir", "wants a value"},
        {"--logdir=", "wants a value"},
        {"--verbose=maybe", "switch"},
        {"/tmp/x", "--logdir=/tmp/x"},
        {"--host=1.2.3.4 --bind_all", "exclude"},
        {"--tls_cert=a", "--tls_key is missing"},
        {"--tls_key=a", "--tls_cert is missing"},
        {"--tls_cert=a --tls_key=b --unix_socket=c", "exclude"},
        {"--threads=0", "number from 1"},
        {"--memory_limit=127", "number from 128"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct options options;
        char problem[OPTIONS_PROBLEM_BYTES];
        assert_false(parse(cases[i].line, &options, problem));
        if (!strstr(problem, cases[i].words)) fail_msg("%s: %s", cases[i].line, problem);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_defaults),
        cmocka_unit_test(reads_both_forms),
        cmocka_unit_test(refuses_with_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
