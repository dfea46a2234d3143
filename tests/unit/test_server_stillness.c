// Whether the log directory stood still: each change of it is known at once, and what is not told of a little later.
#include "tests/unit/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/input/folder_watch.h"
#include "analysis/input/local_storage.h"
#include "server/store/stillness.h"
#include "tests/unit/temp_folder.h"

enum { HOUR_MS = 3600 * 1000, PATIENCE_TICKS = 10000, TICK_NS = 1000000 };

struct fixture {
    struct temp_folder folder;
    struct stillness *stillness;
    bool is_told;  // this system tells of changes
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    if (!f) return 1;
    temp_folder_make(&f->folder);
    temp_folder_write(&f->folder, "plugins/profile/s/file", BYTES("before"));
    struct folder_watch watch;
    f->is_told = folder_watch_begin(&watch, f->folder.path, FOLDER_HEAR_ALL);
    if (f->is_told) folder_watch_end(&watch);
    f->stillness = stillness_new(local_storage(), f->folder.path);
    *state = f;
    return f->stillness ? 0 : 1;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    stillness_free(f->stillness);
    temp_folder_remove(&f->folder);
    free(f);
    return 0;
}

static void ask_often(struct fixture *f) {
    for (int i = 0; i < STILLNESS_OFTEN; i++) stillness_is_missed(f->stillness);
}

// A mark that only a change ends.
static struct stillness_mark still_mark(struct fixture *f) {
    const struct timespec tick = {0, TICK_NS};
    struct stillness_mark mark = {0};
    for (int i = 0; i < PATIENCE_TICKS && !mark.generation; i++) {
        ask_often(f);
        mark = stillness_mark(f->stillness);
        if (!mark.generation) nanosleep(&tick, NULL);
    }
    assert_true(mark.generation);
    mark.taken_ms += HOUR_MS;
    assert_true(stillness_holds(f->stillness, &mark));
    return mark;
}

static void what_is_seldom_asked_is_not_watched(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i + 1 < STILLNESS_OFTEN; i++) stillness_is_missed(f->stillness);
    struct stillness_mark mark = stillness_mark(f->stillness);
    assert_false(mark.generation);
    assert_false(stillness_holds(f->stillness, &mark));
}

static void each_change_is_known_at_once(void **state) {
    struct fixture *f = *state;
    if (!f->is_told) return;
    struct temp_path file = temp_folder_path(&f->folder, "plugins/profile/s/file");
    struct temp_path folder = temp_folder_path(&f->folder, "plugins/profile");
    struct temp_path elsewhere = temp_folder_path(&f->folder, "plugins/elsewhere");
    struct stillness_mark mark = still_mark(f);
    temp_folder_write(&f->folder, "plugins/profile/s/other", BYTES("new"));
    assert_false(stillness_holds(f->stillness, &mark));
    mark = still_mark(f);
    temp_folder_mkdir(&f->folder, "plugins/profile/t/deep");
    assert_false(stillness_holds(f->stillness, &mark));
    mark = still_mark(f);
    temp_folder_write(&f->folder, "plugins/profile/t/deep/file", BYTES("in a new folder"));
    assert_false(stillness_holds(f->stillness, &mark));
    mark = still_mark(f);
    assert_int_equal(chmod(file.text, 0), 0);
    assert_false(stillness_holds(f->stillness, &mark));
    mark = still_mark(f);
    assert_int_equal(truncate(file.text, 1), 0);
    assert_false(stillness_holds(f->stillness, &mark));
    mark = still_mark(f);
    assert_int_equal(unlink(file.text), 0);
    assert_false(stillness_holds(f->stillness, &mark));
    mark = still_mark(f);
    assert_int_equal(rename(folder.text, elsewhere.text), 0);
    assert_false(stillness_holds(f->stillness, &mark));
}

static void a_change_ends_a_mark_for_good(void **state) {
    struct fixture *f = *state;
    if (!f->is_told) return;
    struct stillness_mark before = still_mark(f);
    temp_folder_write(&f->folder, "plugins/profile/s/file", BYTES("after"));
    struct stillness_mark after = still_mark(f);
    assert_false(stillness_holds(f->stillness, &before));
    assert_true(stillness_holds(f->stillness, &after));
}

static void what_nobody_tells_of_is_seen_a_little_later(void **state) {
    struct fixture *f = *state;
    if (!f->is_told) return;
    struct stillness_mark mark = still_mark(f);
    mark.taken_ms -= HOUR_MS + STILLNESS_MS + 1;
    assert_false(stillness_holds(f->stillness, &mark));
}

static void where_changes_are_not_told_nothing_holds(void **state) {
    struct fixture *f = *state;
    const struct storage bucket = {0};
    struct stillness *stillness = stillness_new(&bucket, f->folder.path);
    assert_non_null(stillness);
    for (int i = 0; i < 2 * STILLNESS_OFTEN; i++) stillness_is_missed(stillness);
    assert_false(stillness_mark(stillness).generation);
    stillness_free(stillness);
}

static void without_a_log_directory_nothing_changes(void **state) {
    (void)state;
    struct stillness *stillness = stillness_new(NULL, NULL);
    assert_non_null(stillness);
    struct stillness_mark mark = stillness_mark(stillness);
    mark.taken_ms -= HOUR_MS;
    assert_true(stillness_holds(stillness, &mark));
    stillness_free(stillness);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_seldom_asked_is_not_watched, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_change_is_known_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_change_ends_a_mark_for_good, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_nobody_tells_of_is_seen_a_little_later, set_up, tear_down),
        cmocka_unit_test_setup_teardown(where_changes_are_not_told_nothing_holds, set_up, tear_down),
        cmocka_unit_test(without_a_log_directory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
