// server/store/kept_looks: a version of a file is looked into once, whoever asks, and again when it has changed.
#include "server/store/kept_looks.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "analysis/input/device_memory_files.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/counted_storage.h"
#include "tests/unit/pprof_build.h"
#include "tests/unit/temp_folder.h"

struct fixture {
    struct temp_folder folder;
    struct storage storage;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    temp_folder_make(&f->folder);
    f->storage = counted_storage();
    f->storage.kept_looks = kept_looks_new();
    *state = f;
    return f->storage.kept_looks ? 0 : -1;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    kept_looks_free(f->storage.kept_looks);
    temp_folder_remove(&f->folder);
    free(f);
    return 0;
}

static bool fits(const struct fixture *f, const char *name) {
    struct temp_path path = temp_folder_path(&f->folder, name);
    struct file_version version;
    assert_true(storage_look_at_file(&f->storage, path.text, STORAGE_FOLLOW_LINKS, &version));
    bool is_broken, is_listed = device_memory_file_fits(&f->storage, path.text, &version, &is_broken);
    assert_int_equal(is_broken, is_listed && strcmp(name, "c.prof") == 0);
    return is_listed;
}

static void check_opens(size_t count) {
    assert_int_equal(atomic_load(&counted.opened), count);
}

static void a_version_is_looked_into_once(void **state) {
    struct fixture *f = *state;
    struct wire_build file = {0};
    put_example(&file);
    temp_folder_write(&f->folder, "a.pb", wire_build_view(&file));
    temp_folder_write(&f->folder, "b.pb", BYTES("no such thing"));
    temp_folder_write(&f->folder, "c.prof", BYTES("no such thing"));
    temp_folder_write(&f->folder, "d.prof", BYTES("{(\x01\x00"));
    for (int i = 0; i < 3; i++) {
        assert_true(fits(f, "a.pb"));
        assert_false(fits(f, "b.pb"));
        assert_true(fits(f, "c.prof"));
        assert_false(fits(f, "d.prof"));
        check_opens(4);
    }
    temp_folder_write(&f->folder, "b.pb", wire_build_view(&file));
    assert_true(fits(f, "b.pb"));
    check_opens(5);
    wire_build_free(&file);
}

static void what_fails_for_a_moment_is_not_kept(void **state) {
    struct fixture *f = *state;
    temp_folder_write(&f->folder, "a.prof", BYTES("{(\x01\x00"));
    atomic_store(&counted.fails, true);
    assert_true(fits(f, "a.prof"));  // nobody knows
    assert_true(fits(f, "a.prof"));
    check_opens(2);
    atomic_store(&counted.fails, false);
    assert_false(fits(f, "a.prof"));
    assert_false(fits(f, "a.prof"));
    check_opens(3);
}

static void an_unknown_version_is_not_kept(void **state) {
    struct fixture *f = *state;
    temp_folder_write(&f->folder, "a.prof", BYTES("{(\x01\x00"));
    struct temp_path path = temp_folder_path(&f->folder, "a.prof");
    struct file_version none = {0}, old = {.inode = 1};
    bool is_broken;
    for (int i = 0; i < 2; i++) {
        assert_false(device_memory_file_fits(&f->storage, path.text, &none, &is_broken));
        assert_false(device_memory_file_fits(&f->storage, path.text, &old, &is_broken));  // another is there by now
    }
    check_opens(4);
}

// --- Many who ask, and many files ---

enum { ASKERS = 8, VERSIONS = 40000 };

static atomic_size_t looks, at_once;
static atomic_bool has_broken;

static unsigned look_long(const void *context, bool *lasts) {
    (void)context;
    if (atomic_fetch_add(&at_once, 1)) atomic_store(&has_broken, true);
    atomic_fetch_add(&looks, 1);
    for (int i = 0; i < 100; i++) sched_yield();
    atomic_fetch_sub(&at_once, 1);
    *lasts = true;
    return 7;
}

static void *ask(void *kept) {
    static const struct file_version version = {.inode = 3};
    for (int i = 0; i < 100; i++)
        if (((struct kept_looks *)kept)->look(kept, &version, look_long, NULL) != 7) atomic_store(&has_broken, true);
    return NULL;
}

static void who_asks_meanwhile_waits_for_the_first(void **state) {
    struct fixture *f = *state;
    pthread_t askers[ASKERS];
    for (size_t i = 0; i < ASKERS; i++)
        assert_int_equal(pthread_create(&askers[i], NULL, ask, f->storage.kept_looks), 0);
    for (size_t i = 0; i < ASKERS; i++) pthread_join(askers[i], NULL);
    assert_false(atomic_load(&has_broken));
    assert_int_equal(atomic_load(&looks), 1);
}

static unsigned tell(const void *context, bool *lasts) {
    *lasts = true;
    return *(const unsigned *)context;
}

// More than there is room for: each gets its own answer, whatever is still kept.
static void versions_are_not_mixed_up(void **state) {
    struct fixture *f = *state;
    struct kept_looks *kept = f->storage.kept_looks;
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < VERSIONS; i++) {
            struct file_version version = {.device = 5, .inode = i / 2, .size_bytes = i % 2};
            assert_int_equal(kept->look(kept, &version, tell, &i), i);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_version_is_looked_into_once),  TEST(what_fails_for_a_moment_is_not_kept),
        TEST(an_unknown_version_is_not_kept), TEST(who_asks_meanwhile_waits_for_the_first),
        TEST(versions_are_not_mixed_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
