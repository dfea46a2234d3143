// Objects as folders and files.
#include "tests/unit/cmocka_all.h"

#include <stdio.h>

#include "server/storage/object_tree.h"

struct fixture {
    struct arena arena;
    struct object_tree tree;
};

static struct object_tree tree_of(struct arena *arena, const char *const *names, size_t count) {
    struct object_page page = {0};
    for (size_t i = 0; i < count; i++) {
        struct stored_object object = {.pin = "1", .size_bytes = i};
        assert_true(object_page_add(&page, bytes_of(names[i]), &object, arena));
    }
    struct object_tree tree = {.prefix = "", .objects = page.objects, .object_count = page.object_count};
    object_tree_sort(&tree);
    return tree;
}

// "name/" for folders, in order, each with a blank after it.
static void check_list(const struct object_tree *tree, const char *name, const char *expected) {
    struct arena arena;
    struct folder folder;
    char text[256] = "";
    arena_init(&arena, 0);
    assert_true(object_tree_list(tree, name, 100, &arena, &folder));
    for (size_t i = 0; i < folder.entry_count; i++) {
        size_t size = strlen(text);
        snprintf(text + size, sizeof text - size, "%s%s ", folder.entries[i].name,
                 folder.entries[i].kind == ENTRY_FOLDER ? "/" : "");
    }
    assert_string_equal(text, expected);
    arena_free(&arena);
}

static const char *const run[] = {"run/plugins/profile/s2/b.pb",
                                  "run/plugins/profile/s1/a.pb",
                                  "run-1/x",
                                  "run.txt",
                                  "run/plugins/profile/s1/b.pb",
                                  "run/z",
                                  "run/plugins/profile/s1/a.pb"};

static void folders_are_what_lies_below_them(void **state) {
    (void)state;
    struct arena arena;
    arena_init(&arena, 0);
    struct object_tree tree = tree_of(&arena, run, sizeof run / sizeof *run);
    assert_int_equal(tree.object_count, 6);
    check_list(&tree, "", "run/ run-1/ run.txt ");
    check_list(&tree, "run", "plugins/ z ");
    check_list(&tree, "run/plugins/profile", "s1/ s2/ ");
    check_list(&tree, "run/plugins/profile/s1", "a.pb b.pb ");
    check_list(&tree, "run/plugins/pro", "");
    check_list(&tree, "run.txt", "");
    arena_free(&arena);
}

static void a_name_is_an_object_or_a_folder_or_nothing(void **state) {
    (void)state;
    struct arena arena;
    struct storage_entry entry;
    arena_init(&arena, 0);
    struct object_tree tree = tree_of(&arena, run, sizeof run / sizeof *run);
    assert_true(object_tree_look(&tree, "run/z", &entry));
    assert_int_equal(entry.kind, ENTRY_FILE);
    assert_int_equal(entry.version.size_bytes, 5);
    assert_true(object_tree_look(&tree, "run/plugins", &entry));
    assert_int_equal(entry.kind, ENTRY_FOLDER);
    assert_true(object_tree_look(&tree, "", &entry));
    assert_int_equal(entry.kind, ENTRY_FOLDER);
    assert_false(object_tree_look(&tree, "run/plug", &entry));
    assert_false(object_tree_look(&tree, "run/z/", &entry));
    assert_null(object_tree_find(&tree, "run"));
    arena_free(&arena);
}

static struct file_version version_of_run(const char *extra, const char *pin) {
    struct arena arena;
    struct object_page page = {0};
    struct storage_entry entry;
    const char *const names[] = {"run/a", extra};
    arena_init(&arena, 0);
    for (size_t i = 0; i < 2; i++) {
        struct stored_object object = {.pin = i ? "1" : pin, .size_bytes = 7};
        assert_true(object_page_add(&page, bytes_of(names[i]), &object, &arena));
    }
    struct object_tree tree = {.prefix = "", .objects = page.objects, .object_count = page.object_count};
    object_tree_sort(&tree);
    assert_true(object_tree_look(&tree, "run", &entry));
    arena_free(&arena);
    return entry.version;
}

static void a_folder_changes_with_what_is_below_it(void **state) {
    (void)state;
    struct file_version first = version_of_run("run/b", "1"), same = version_of_run("run/b", "1");
    struct file_version renamed = version_of_run("run/c", "1"), replaced = version_of_run("run/b", "2");
    struct file_version elsewhere = version_of_run("x", "1");
    assert_true(file_version_equal(&first, &same));
    assert_false(file_version_equal(&first, &renamed));
    assert_false(file_version_equal(&first, &replaced));
    assert_false(file_version_equal(&first, &elsewhere));
}

static void no_more_than_is_asked_for(void **state) {
    (void)state;
    struct arena arena;
    struct folder folder;
    arena_init(&arena, 0);
    struct object_tree tree = tree_of(&arena, run, sizeof run / sizeof *run);
    assert_true(object_tree_list(&tree, "", 2, &arena, &folder));
    assert_int_equal(folder.entry_count, 2);
    assert_true(folder.has_more);
    assert_true(object_tree_list(&tree, "", 3, &arena, &folder));
    assert_false(folder.has_more);
    arena_free(&arena);
}

static void a_level_knows_its_own_names(void **state) {
    (void)state;
    struct arena arena;
    struct object_page page = {0};
    struct stored_object notes = {.pin = "1", .size_bytes = 3}, objects[3];
    arena_init(&arena, 0);
    assert_true(object_page_add_folder(&page, BYTES("run/plugins/"), &arena));
    assert_true(object_page_add_folder(&page, BYTES("run/checkpoints/"), &arena));
    assert_true(object_page_add(&page, BYTES("run/notes"), &notes, &arena));
    objects[0] = page.folders[0], objects[1] = page.folders[1], objects[2] = page.objects[0];
    struct object_tree tree = {.prefix = "run/", .extent = TREE_LEVEL, .objects = objects, .object_count = 3};
    object_tree_sort(&tree);
    check_list(&tree, "run", "checkpoints/ notes plugins/ ");
    assert_true(object_tree_covers(&tree, "run/"));
    assert_true(object_tree_covers(&tree, "run/notes"));
    assert_false(object_tree_covers(&tree, "run/plugins/"));
    assert_false(object_tree_covers(&tree, "run/plugins"));
    assert_false(object_tree_covers(&tree, "run/plugins/profile/"));
    assert_false(object_tree_covers(&tree, ""));
    assert_null(object_tree_find(&tree, "run/plugins"));
    arena_free(&arena);
}

static void a_vast_tree_knows_nothing(void **state) {
    (void)state;
    struct object_tree all = {.prefix = "run/"}, vast = {.prefix = "run/", .extent = TREE_VAST};
    assert_true(object_tree_covers(&all, "run/a/b"));
    assert_false(object_tree_covers(&all, "ru"));
    assert_false(object_tree_covers(&vast, "run/"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_what_lies_below_them),
        cmocka_unit_test(a_name_is_an_object_or_a_folder_or_nothing),
        cmocka_unit_test(a_folder_changes_with_what_is_below_it),
        cmocka_unit_test(no_more_than_is_asked_for),
        cmocka_unit_test(a_level_knows_its_own_names),
        cmocka_unit_test(a_vast_tree_knows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
