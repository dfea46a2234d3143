// Sizes as messages write them: rounded ones with a unit, exact ones only when they are surely whole.
#include "analysis/oom/oom_size.h"

#include <string.h>

#include "tests/unit/cmocka_all.h"

static struct oom_cursor cursor_of(const char *text) {
    return (struct oom_cursor){(const uint8_t *)text, (const uint8_t *)text + strlen(text)};
}

static void test_with_unit(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {
        {"49.34G", 52978421596},      {"530.00M", 555745280},
        {"260.0K", 266240},           {"0B", 0},
        {"6.00MiB", 6291456},         {"512B of", 512},
        {"1.5GB)", 1610612736},       {"2.5 GiB ", 2684354560},
        {"49.\n34G of", 52978421596}, {"4\n   9.34\nG.", 52978421596},
        {"6.00M\niB,", 6291456},      {"1.00T", (int64_t)1 << 40},
        {"174.10G, ", 186938451558},  {"7k ", 7168},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct oom_cursor at = cursor_of(cases[i].text);
        int64_t bytes = -7;
        assert_true(oom_take_size(&at, &bytes));
        assert_int_equal(bytes, cases[i].bytes);
    }
}

// Each is the beginning of a larger number, or no size: none may become one.
static void test_not_whole(void **state) {
    (void)state;
    static const char *const cases[] = {"",
                                        "49",
                                        "49.",
                                        "49.3",
                                        "49.34",
                                        "17.34\nMax",
                                        "12\nMany",
                                        "12Many",
                                        "1.2345G",
                                        "12 34G",
                                        "12.5B",
                                        "-3G",
                                        "G",
                                        "99999999999999999999G",
                                        "9000000000G",
                                        "17.3...",
                                        "1024\n2. Size"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct oom_cursor at = cursor_of(cases[i]), before = at;
        int64_t bytes = -7;
        if (oom_take_size(&at, &bytes)) fail_msg("\"%s\" is %lld", cases[i], (long long)bytes);
        assert_ptr_equal(at.at, before.at);
        assert_int_equal(bytes, -7);
    }
}

static void test_bare_bytes_need_what_follows(void **state) {
    (void)state;
    int64_t bytes = -7;
    struct oom_cursor at = cursor_of("1073741\n 82400) would");
    assert_true(oom_take_size_before(&at, ")", &bytes));
    assert_int_equal(bytes, 107374182400);
    static const char *const cut[] = {"10737418", "10737418\nnoise"};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        at = cursor_of(cut[i]);
        assert_false(oom_take_size_before(&at, ")", &bytes));
        assert_int_equal(bytes, 107374182400);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_unit),
        cmocka_unit_test(test_not_whole),
        cmocka_unit_test(test_bare_bytes_need_what_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
