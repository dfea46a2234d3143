// server/live: what is new between two looks, which events are kept, when a change is heard of.
#include "tests/unit/cmocka_all.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/input/folder_watch.h"
#include "analysis/input/local_storage.h"
#include "analysis/input/session_stamp.h"
#include "server/live/event_ring.h"
#include "server/live/event_text.h"
#include "server/live/lookout.h"
#include "server/live/session_news.h"
#include "tests/unit/temp_folder.h"
#include "tests/unit/wire_build.h"

enum { LONG_AGO_S = 1000, HEARD_MS = 20000 };

struct fixture {
    struct temp_folder folder;
    struct arena arena;
    struct catalog before, now;
    struct catalog_news news;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    if (!f) return 1;
    temp_folder_make(&f->folder);
    arena_init(&f->arena, 0);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    arena_free(&f->arena);
    temp_folder_remove(&f->folder);
    free(f);
    return 0;
}

// One empty plane is a whole profile.
static void write_profile(struct fixture *f, const char *below, int age_s) {
    static const uint8_t planes[] = {0x0A, 0x00, 0x0A, 0x00};
    temp_folder_write(&f->folder, below, (struct bytes){planes, 2});
    temp_folder_set_age(&f->folder, below, age_s);
}

static void look(struct fixture *f) {
    struct error error;
    f->before = f->now;
    assert_true(catalog_scan(local_storage(), f->folder.path, &f->arena, &f->now, &error));
}

static void compare(struct fixture *f) {
    look(f);
    assert_true(catalog_news_find(&f->before, &f->now, &f->arena, &f->news));
}

static void assert_news(const struct session_news *news, enum news_kind kind, const char *name) {
    assert_int_equal(news->kind, kind);
    assert_string_equal(news->session->name, name);
}

// --- News ---

static void nothing_new_is_no_news(void **state) {
    struct fixture *f = *state;
    write_profile(f, "plugins/profile/a/h0.xplane.pb", LONG_AGO_S);
    look(f);
    temp_folder_write(&f->folder, "plugins/profile/a/notes.txt", BYTES("beside it"));
    compare(f);
    assert_false(catalog_news_any(&f->news));
    assert_int_equal(catalog_stamp(&f->before), catalog_stamp(&f->now));
}

static void sessions_come_change_and_go(void **state) {
    struct fixture *f = *state;
    write_profile(f, "plugins/profile/a/h0.xplane.pb", LONG_AGO_S);
    write_profile(f, "plugins/profile/b/h0.xplane.pb", LONG_AGO_S);
    write_profile(f, "plugins/profile/b/h1.xplane.pb", LONG_AGO_S);
    look(f);
    struct temp_path gone = temp_folder_path(&f->folder, "plugins/profile/a");
    char removed[sizeof gone.text + 32];
    snprintf(removed, sizeof removed, "%s/h0.xplane.pb", gone.text);
    assert_int_equal(unlink(removed), 0);
    assert_int_equal(rmdir(gone.text), 0);
    write_profile(f, "plugins/profile/b/h1.xplane.pb", LONG_AGO_S / 2);
    write_profile(f, "plugins/profile/b/h2.xplane.pb", LONG_AGO_S);
    write_profile(f, "plugins/profile/c/h0.xplane.pb", LONG_AGO_S);
    compare(f);
    assert_int_equal(f->news.count, 3);
    assert_news(&f->news.items[0], NEWS_ADDED, "c");
    assert_news(&f->news.items[1], NEWS_CHANGED, "b");
    assert_int_equal(f->news.items[1].files_added, 1);
    assert_int_equal(f->news.items[1].files_changed, 1);
    assert_int_equal(f->news.items[1].files_removed, 0);
    assert_news(&f->news.items[2], NEWS_REMOVED, "a");
}

// Its name is in the folder as before: only the file itself tells.
static void a_device_memory_profile_that_is_written_anew_changes_its_session(void **state) {
    struct fixture *f = *state;
    write_profile(f, "plugins/profile/a/h0.xplane.pb", LONG_AGO_S);
    temp_folder_write(&f->folder, "plugins/profile/a/memory.prof", BYTES("first"));
    look(f);
    struct temp_path path = temp_folder_path(&f->folder, "plugins/profile/a/memory.prof");
    FILE *file = fopen(path.text, "r+");
    assert_non_null(file);
    fputs("second", file);
    fclose(file);
    compare(f);
    assert_int_equal(f->news.count, 1);
    assert_news(&f->news.items[0], NEWS_CHANGED, "a");
}

static void what_is_being_written_is_pending_first(void **state) {
    struct fixture *f = *state;
    write_profile(f, "plugins/profile/a/h0.xplane.pb", LONG_AGO_S);
    look(f);
    temp_folder_write(&f->folder, "plugins/profile/b/h0.xplane.pb", BYTES("\x0A\x05"));
    compare(f);
    assert_int_equal(f->news.count, 0);
    assert_true(f->news.pending_changed);
    write_profile(f, "plugins/profile/b/h0.xplane.pb", 0);
    compare(f);
    assert_int_equal(f->news.count, 1);
    assert_news(&f->news.items[0], NEWS_ADDED, "b");
    assert_true(f->news.pending_changed);
}

// --- Events ---

static void add_event(struct event_ring *ring, uint64_t number) {
    char *text = calloc(1, 24);
    assert_non_null(text);
    int size = snprintf(text, 24, "%d", (int)number);
    event_ring_add(ring, (struct event_text){text, (size_t)size});
}

static void the_ring_keeps_the_latest(void **state) {
    (void)state;
    struct event_ring ring = {0};
    assert_null(event_ring_find(&ring, 0));
    assert_true(event_ring_reaches_back_to(&ring, 0));
    for (uint64_t i = 1; i <= EVENT_RING_KEPT + 3; i++) add_event(&ring, i);
    assert_null(event_ring_find(&ring, 3));
    assert_string_equal(event_ring_find(&ring, 4)->text, "4");
    assert_string_equal(event_ring_find(&ring, EVENT_RING_KEPT + 3)->text, "67");
    assert_null(event_ring_find(&ring, EVENT_RING_KEPT + 4));
    assert_true(event_ring_reaches_back_to(&ring, 3));
    assert_false(event_ring_reaches_back_to(&ring, 2));
    assert_false(event_ring_reaches_back_to(&ring, EVENT_RING_KEPT + 4));
    event_ring_free(&ring);
}

// There was no memory for its words: whoever comes to it is to ask for the list.
static void a_gap_counts_and_is_not_found(void **state) {
    (void)state;
    struct event_ring ring = {0};
    add_event(&ring, 1);
    event_ring_add(&ring, (struct event_text){0});
    add_event(&ring, 3);
    assert_null(event_ring_find(&ring, 2));
    assert_string_equal(event_ring_find(&ring, 3)->text, "3");
    assert_int_equal(ring.newest, 3);
    event_ring_free(&ring);
}

static void only_ids_of_this_run_are_read(void **state) {
    (void)state;
    uint64_t number = 0;
    assert_true(event_id_read("5f3a-17", 0x5F3A, &number));
    assert_int_equal(number, 17);
    static const char *const wrong[] = {"",
                                        "-",
                                        "5f3a",
                                        "5f3a-",
                                        "5f3b-17",
                                        "5f3a-17x",
                                        "5f3a--1",
                                        "5f3a- 1",
                                        "fffffffffffffffff-1",
                                        "5f3a-99999999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) assert_false(event_id_read(wrong[i], 0x5F3A, &number));
}

// However many there are, an event is small, and says how many it leaves out.
static void an_event_names_so_many_and_counts_the_rest(void **state) {
    struct fixture *f = *state;
    enum { SESSIONS = EVENT_NAMES_MOST + 7 };
    look(f);
    for (int i = 0; i < SESSIONS; i++) {
        char below[64];
        snprintf(below, sizeof below, "plugins/profile/s%03d/h.xplane.pb", i);
        write_profile(f, below, LONG_AGO_S);
    }
    compare(f);
    struct output output;
    output_init(&output, 1 << 20);
    event_write_news(&output, 0xAB, 5, &f->now, &f->news);
    output_append_char(&output, '\0');
    assert_non_null(strstr(output.data, "id: ab-5\nevent: sessions\ndata: {"));
    assert_non_null(strstr(output.data, "\"more\":7}\n\n"));
    assert_non_null(strstr(output.data, "\"s106\""));
    assert_null(strstr(output.data, "\"s006\""));
    output_free(&output);
}

// --- Hearing of changes ---

static bool hears(const struct folder_watch *watch, int patience_ms) {
    struct pollfd asked = {.fd = watch->descriptor, .events = POLLIN};
    return poll(&asked, 1, patience_ms) == 1;
}

static void changes_are_heard_of_in_new_folders_too(void **state) {
    struct fixture *f = *state;
    struct folder_watch watch;
    temp_folder_mkdir(&f->folder, "plugins");
    if (!folder_watch_begin(&watch, f->folder.path, FOLDER_HEAR_FILES)) return;  // no inotify here
    assert_false(hears(&watch, 0));
    temp_folder_mkdir(&f->folder, "plugins/profile/new/deep");
    assert_true(hears(&watch, HEARD_MS));
    assert_true(folder_watch_hear(&watch));
    assert_false(hears(&watch, 0));
    temp_folder_write(&f->folder, "plugins/profile/new/deep/file", BYTES("x"));
    assert_true(hears(&watch, HEARD_MS));
    folder_watch_end(&watch);
}

static void a_folder_that_goes_is_given_up(void **state) {
    struct fixture *f = *state;
    struct folder_watch watch;
    struct temp_path path = temp_folder_path(&f->folder, "root");
    temp_folder_mkdir(&f->folder, "root");
    if (!folder_watch_begin(&watch, path.text, FOLDER_HEAR_FILES)) return;
    assert_int_equal(rmdir(path.text), 0);
    assert_true(hears(&watch, HEARD_MS));
    assert_false(folder_watch_hear(&watch));
    folder_watch_end(&watch);
    assert_false(folder_watch_begin(&watch, path.text, FOLDER_HEAR_FILES));
}

static void a_wait_ends_when_it_is_woken(void **state) {
    struct fixture *f = *state;
    struct catalog nothing = {0};
    struct lookout lookout;
    assert_true(lookout_begin(&lookout, local_storage(), f->folder.path));
    lookout_looks(&lookout);
    lookout_looked(&lookout, &nothing);
    lookout_wake(&lookout);
    lookout_wait(&lookout, false, -1);
    temp_folder_write(&f->folder, "news", BYTES("x"));
    lookout_wait(&lookout, false, -1);
    lookout_end(&lookout);
}

// How long a look that saw this is followed by none, where nothing is heard.
static int64_t pause_after(struct lookout *lookout, const struct catalog *seen) {
    lookout_looked(lookout, seen);
    lookout->cost_ms = 0;
    return lookout_due_ms(lookout, false) - lookout->looked_ms;
}

// Where changes are heard of there may be none that tells that a folder can be read again.
static void what_could_not_be_looked_at_is_tried_again_soon_then_less_often(void **state) {
    struct fixture *f = *state;
    struct input_remark remarks[] = {{.path = "a", .is_fault = true}, {.path = "b"}};
    struct catalog all = {.left_out = remarks + 1, .left_out_count = 1};
    struct catalog most = {.left_out = remarks, .left_out_count = 2};
    struct lookout lookout;
    assert_true(lookout_begin(&lookout, local_storage(), f->folder.path));
    lookout_looks(&lookout);
    int64_t whole = LOOKOUT_ALL_THE_SAME_MS;
    if (!lookout.is_watched) return lookout_end(&lookout);  // it looks every second there
    assert_int_equal(pause_after(&lookout, &all), whole);
    assert_int_equal(pause_after(&lookout, NULL), LOOKOUT_FAULT_MS);
    assert_int_equal(pause_after(&lookout, &most), 2 * LOOKOUT_FAULT_MS);
    assert_int_equal(pause_after(&lookout, &all), whole);
    assert_int_equal(pause_after(&lookout, &most), LOOKOUT_FAULT_MS);
    assert_int_equal(pause_after(&lookout, NULL), LOOKOUT_FAULT_MS);
    for (int i = 0; i < 20; i++) assert_true(pause_after(&lookout, &most) <= whole);
    assert_int_equal(pause_after(&lookout, &most), whole);
    assert_int_equal(pause_after(&lookout, &all), whole);
    lookout_end(&lookout);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_new_is_no_news, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sessions_come_change_and_go, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_device_memory_profile_that_is_written_anew_changes_its_session, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_being_written_is_pending_first, set_up, tear_down),
        cmocka_unit_test(the_ring_keeps_the_latest),
        cmocka_unit_test(a_gap_counts_and_is_not_found),
        cmocka_unit_test(only_ids_of_this_run_are_read),
        cmocka_unit_test_setup_teardown(an_event_names_so_many_and_counts_the_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(changes_are_heard_of_in_new_folders_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_that_goes_is_given_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_wait_ends_when_it_is_woken, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_could_not_be_looked_at_is_tried_again_soon_then_less_often, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
