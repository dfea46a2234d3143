// A trend's numbers: lines that sum to the peaks, the jump, what differs; and when sessions were recorded.
#include "tests/unit/cmocka_all.h"

#include <errno.h>
#include <sys/stat.h>

#include "analysis/groups/frameworks.h"
#include "analysis/compare/memory_trend.h"
#include "server/trend/session_time.h"
#include "server/trend/trend.h"
#include "server/trend/trend_session.h"
#include "tests/unit/pprof_build.h"
#include "tests/unit/temp_folder.h"

static struct trend_holder first_holders[] = {{BYTES("a.py:1"), 60, 2}, {BYTES("params"), 30, 1}};
static struct trend_holder second_holders[] = {
    {BYTES("b.py:2"), 200, 4}, {BYTES("a.py:1"), 70, 2}, {BYTES("params"), 30, 1}};
static const struct trend_figures first = {100, 110, first_holders, 2}, second = {310, 330, second_holders, 3},
                                  third = {300, 320, second_holders, 2};

static void lines_and_the_rest_sum_to_the_peak(void **state) {
    (void)state;
    const struct trend_figures *points[] = {&first, NULL, &second, &third};
    struct arena arena;
    struct trend_lines lines;
    arena_init(&arena, 1 << 20);
    for (uint32_t most = 0; most < 5; most++) {
        assert_true(trend_lines_make(points, 4, most, &arena, &lines));
        assert_int_equal(lines.count, most < 3 ? most : 3);
        for (uint32_t i = 0; i < 4; i++) {
            int64_t sum = lines.rest_bytes[i];
            for (uint32_t line = 0; line < lines.count; line++) {
                int64_t bytes = lines.bytes[line * 4 + i];
                assert_true(points[i] ? bytes >= 0 : bytes == TREND_UNKNOWN);
                sum += points[i] ? bytes : 0;
            }
            assert_int_equal(sum, points[i] ? points[i]->peak_bytes : TREND_UNKNOWN);
        }
    }
    assert_true(bytes_equal(lines.keys[0], BYTES("b.py:2")));
    assert_int_equal(lines.bytes[0], 0);
    assert_int_equal(lines.bytes[2], 200);
    arena_free(&arena);
}

static void the_jump_passes_over_what_is_not_known(void **state) {
    (void)state;
    const struct trend_figures *grows[] = {&first, NULL, &second, &third}, *falls[] = {&second, NULL, &third, &first};
    assert_int_equal(trend_largest_jump(grows, 4), 2);
    assert_int_equal(trend_point_before(grows, 2), 0);
    assert_int_equal(trend_largest_jump(falls, 4), TREND_NOWHERE);
    assert_int_equal(trend_largest_jump(grows, 2), TREND_NOWHERE);
    assert_int_equal(trend_point_before(grows, 0), TREND_NOWHERE);
    const struct trend_figures *twice[] = {&first, &second, &first, &second};
    assert_int_equal(trend_largest_jump(twice, 4), 3);
}

static void what_differs_comes_by_its_size(void **state) {
    (void)state;
    struct arena arena;
    uint32_t count;
    arena_init(&arena, 1 << 20);
    const struct trend_delta *rows = trend_deltas_make(&first, &second, &arena, &count);
    assert_non_null(rows);
    assert_int_equal(count, 2);
    assert_true(bytes_equal(rows[0].key, BYTES("b.py:2")));
    assert_int_equal(rows[0].a_bytes, 0);
    assert_int_equal(rows[0].delta_bytes, 200);
    assert_int_equal(rows[0].b_buffers, 4);
    assert_int_equal(rows[1].delta_bytes, 10);
    assert_int_equal(rows[1].a_buffers, 2);
    arena_free(&arena);
}

static void names_tell_their_time(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool is_time;
        int64_t time_s;
        const char *date;
    } cases[] = {
        {"2026_11_03_10_20_30", true, 1793701230, "2026-11-03 10:20"},
        {"runs/a/2026_11_03_10_20_30", true, 1793701230, "2026-11-03 10:20"},
        {"2026-11-03-nightly", true, 1793664000, "2026-11-03 00:00"},
        {"2024_02_29_00_00_00", true, 1709164800, "2024-02-29 00:00"},
        {"1970_01_01_00_00_01", true, 1, "1970-01-01 00:00"},
        {"2026_11_03_25_00_00", true, 1793664000, "2026-11-03 00:00"},
        {"v5e_gpt", false, 0, ""},
        {"2026_13_03_10_20_30", false, 0, ""},
        {"20261103", false, 0, ""},
        {"2026_11_032", false, 0, ""},
        {"2026_11_03_10_20_30/notes", false, 0, ""},
        {"", false, 0, ""},
    };
    struct arena arena;
    arena_init(&arena, 1 << 16);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t time_s = -1;
        assert_int_equal(session_time_of_name(cases[i].name, &time_s), cases[i].is_time);
        if (!cases[i].is_time) continue;
        assert_int_equal(time_s, cases[i].time_s);
        assert_string_equal(session_date(time_s, true, &arena), cases[i].date);
    }
    arena_free(&arena);
}

static void a_module_is_called_without_its_number(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"jit_f(39)", "jit_f"},
                                           {"jit_f", "jit_f"},
                                           {"jit_f()", "jit_f()"},
                                           {"(7)", "(7)"},
                                           {"f(x)(12)", "f(x)"},
                                           {"jit_f(3a)", "jit_f(3a)"},
                                           {"", ""},
                                           {"1)", "1)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes name = trend_module_name(bytes_of(cases[i][0]));
        assert_true(bytes_equal(name, bytes_of(cases[i][1])));
    }
}

// --- A file that the system does not show: stat() of the program, in the place of the library's ---

static const char *not_shown;  // what its path ends in; NULL: everything is shown

int stat(const char *restrict path, struct stat *restrict status) {
    size_t size = strlen(path), end_size = not_shown ? strlen(not_shown) : 0;
    if (!not_shown || size < end_size || strcmp(path + size - end_size, not_shown) != 0) return lstat(path, status);
    errno = EIO;
    return -1;
}

static void a_file_that_cannot_be_looked_at_has_the_time_of_its_folder(void **state) {
    (void)state;
    struct temp_folder folder;
    struct wire_build arrays = {0};
    struct stat of_folder;
    struct error error;
    struct work work;
    struct trend trend;
    const struct storage_settings settings = storage_settings_usual();
    const struct trend_question question = {
        .tool = TREND_DEVICE_MEMORY, .frameworks = FRAMEWORKS_DEFAULT, .patience_ms = -1};
    temp_folder_make(&folder);
    temp_folder_write(&folder, "plugins/profile/s/host.xplane.pb", BYTES("\x0a\x02\x08\x01"));
    put_example(&arrays);
    temp_folder_write(&folder, "plugins/profile/s/a.memory.prof", wire_build_view(&arrays));
    struct temp_path session = temp_folder_path(&folder, "plugins/profile/s");
    assert_int_equal(lstat(session.text, &of_folder), 0);
    struct cache *cache = cache_new(1 << 20, 1);
    struct store *store = store_new(folder.path, &settings);
    work_init(&work, cache);
    not_shown = "a.memory.prof";
    bool is_read = trend_read(store, &work, &question, &trend, &error);
    not_shown = NULL;
    assert_true(is_read);
    assert_int_equal(trend.count, 1);
    assert_int_equal(trend.points[0].state, TREND_ERROR);
    assert_string_equal(trend.points[0].file, "a.memory.prof");
    assert_int_equal(trend.points[0].time_s, of_folder.st_mtime);
    work_free(&work);
    store_free(store);
    cache_free(cache);
    wire_build_free(&arrays);
    temp_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_and_the_rest_sum_to_the_peak),
        cmocka_unit_test(the_jump_passes_over_what_is_not_known),
        cmocka_unit_test(what_differs_comes_by_its_size),
        cmocka_unit_test(names_tell_their_time),
        cmocka_unit_test(a_module_is_called_without_its_number),
        cmocka_unit_test(a_file_that_cannot_be_looked_at_has_the_time_of_its_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
