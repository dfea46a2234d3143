// analysis/input/catalog: how much a scan of many sessions asks for.
#define _GNU_SOURCE 1  // AT_EMPTY_PATH
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "analysis/input/catalog.h"
#include "analysis/input/local_storage.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/temp_folder.h"

// What the scan asks of the system and of texts: these stand before libc's own.
static struct {
    size_t stats, folders, opened, comparisons;  // `opened` files and folders are looked at with fstat
} asked;

int stat(const char *path, struct stat *status) {
    asked.stats++;
    return fstatat(AT_FDCWD, path, status, 0);
}

int fstat(int descriptor, struct stat *status) {
    asked.opened++;
    return fstatat(descriptor, "", status, AT_EMPTY_PATH);
}

DIR *opendir(const char *path) {
    asked.folders++;
    int descriptor = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return descriptor < 0 ? NULL : fdopendir(descriptor);
}

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
    temp_folder_make(&folder);
    arena_init(&arena, 0);
    enum { COUNT = 10000, FRESH = COUNT / 10, ABOVE = 3, COMPARISONS_EACH = 64 };
    for (int i = 0; i < COUNT; i++) {
        char below[64];
        snprintf(below, sizeof below, "plugins/profile/run_%05d/host.xplane.pb", i);
        temp_folder_write(&folder, below, BYTES("\x0a\x00"));
        if (i % 10) temp_folder_set_age(&folder, below, 1000);
    }
    memset(&asked, 0, sizeof asked);
    assert_true(catalog_scan(local_storage(), folder.path, &arena, &catalog, &error));
    assert_int_equal(asked.folders, COUNT + ABOVE);
    assert_int_equal(asked.opened, asked.folders + FRESH);
    assert_int_equal(asked.stats, COUNT + 1);
    assert_in_range(asked.comparisons, COUNT, (size_t)COMPARISONS_EACH * COUNT);
    assert_int_equal(catalog.session_count, COUNT);
    assert_string_equal(catalog.sessions[0].name, "run_09999");
    temp_folder_write(&folder, "plugins/profile/run_00010/host.xplane.pb", BYTES("\x0a\x05"));
    memset(&asked, 0, sizeof asked);
    assert_true(catalog_scan_again(local_storage(), folder.path, &catalog, &arena, &again, &error));
    assert_int_equal(asked.opened, asked.folders + 1);
    assert_int_equal(again.pending_count, 1);
    assert_int_equal(again.session_count, COUNT - 1);
    temp_folder_remove(&folder);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_sessions_are_each_touched_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
