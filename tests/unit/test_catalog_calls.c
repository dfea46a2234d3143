// analysis/input/catalog: how much a scan of many sessions asks for.
#include <stdio.h>

#include "analysis/input/catalog.h"
#include "analysis/input/local_storage.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/temp_folder.h"

// What the scan asks of its storage and of texts.
static struct { size_t looks, folders, opened, comparisons; } asked;

static bool look(const struct storage *storage, const char *path, enum storage_links links, struct storage_entry *entry,
                 struct error *error) {
    asked.looks++;
    return local_storage()->calls->look(storage, path, links, entry, error);
}

static bool list(const struct storage *storage, const char *path, size_t most, struct arena *arena,
                 struct folder *folder, struct error *error) {
    asked.folders++;
    return local_storage()->calls->list(storage, path, most, arena, folder, error);
}

static bool open_file(const struct storage *storage, const char *path, union storage_handle *handle,
                      struct file_version *version, struct error *error) {
    asked.opened++;
    return local_storage()->calls->open(storage, path, handle, version, error);
}

// The files of this machine, with every question counted.
static struct storage counting(struct storage_calls *calls) {
    struct storage storage = *local_storage();
    *calls = *storage.calls;
    calls->look = look, calls->list = list, calls->open = open_file;
    storage.calls = calls;
    return storage;
}

// Stands before libc's own.
int strcmp(const char *left, const char *right) {
    asked.comparisons++;
    while (*left && *left == *right) left++, right++;
    return (unsigned char)*left - (unsigned char)*right;
}

// Each folder is listed once, each file looked at once, and only those that may still be written are opened; scanned
// again, only those of them that have changed.
static void many_sessions_are_each_touched_once(void **state) {
    (void)state;
    struct temp_folder folder;
    struct arena arena;
    struct catalog catalog, again;
    struct error error;
    struct storage_calls calls;
    struct storage storage = counting(&calls);
    temp_folder_make(&folder);
    arena_init(&arena, 0);
    enum { COUNT = 2000, FRESH = COUNT / 10, ABOVE = 3, COMPARISONS_EACH = 64 };
    for (int i = 0; i < COUNT; i++) {
        char below[64];
        snprintf(below, sizeof below, "plugins/profile/run_%05d/host.xplane.pb", i);
        temp_folder_write(&folder, below, BYTES("\x0a\x00"));
        if (i % 10) temp_folder_set_age(&folder, below, 1000);
    }
    memset(&asked, 0, sizeof asked);
    assert_true(catalog_scan(&storage, folder.path, &arena, &catalog, &error));
    assert_int_equal(asked.folders, COUNT + ABOVE);
    assert_int_equal(asked.opened, FRESH);
    assert_int_equal(asked.looks, COUNT + 1);
    assert_in_range(asked.comparisons, COUNT, (size_t)COMPARISONS_EACH * COUNT);
    assert_int_equal(catalog.session_count, COUNT);
    assert_string_equal(catalog.sessions[0].name, "run_01999");
    temp_folder_write(&folder, "plugins/profile/run_00010/host.xplane.pb", BYTES("\x0a\x05"));
    memset(&asked, 0, sizeof asked);
    assert_true(catalog_scan_again(&storage, folder.path, &catalog, &arena, &again, &error));
    assert_int_equal(asked.opened, 1);
    assert_int_equal(again.pending_count, 1);
    assert_int_equal(again.session_count, COUNT - 1);
    temp_folder_remove(&folder);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_sessions_are_each_touched_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
