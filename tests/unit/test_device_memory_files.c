// analysis/input/device_memory_files and the catalog: which files are device memory profiles, and whose they are.
#include "analysis/input/device_memory_files.h"
#include "analysis/input/local_storage.h"

#include "analysis/input/catalog.h"

#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/pprof_build.h"
#include "tests/unit/temp_folder.h"

struct fixture {
    struct arena arena;
    struct wire_build file;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    arena_init(&fixture->arena, 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    arena_free(&fixture->arena);
    wire_build_free(&fixture->file);
    free(fixture);
    return 0;
}

static void names_that_may_be_one(void **state) {
    (void)state;
    const char *const fitting[] = {"memory.prof", "a.pb.gz", "x.prof.gz", "h.pprof", "h.pprof.gz", "profile.pb"};
    const char *const others[] = {
        "a.xplane.pb", "a.xplane.pb.gz", "f.hlo.pb",   "f.hlo_proto.pb", "NO_MODULE.hlo_proto.pb",
        ".prof",       "notes.txt",      "model.onnx", "a.gz",           "NO_MODULE.hlo_proto.pb.gz"};
    for (size_t i = 0; i < sizeof fitting / sizeof *fitting; i++)
        if (!device_memory_name_fits(bytes_of(fitting[i]))) fail_msg("%s", fitting[i]);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (device_memory_name_fits(bytes_of(others[i]))) fail_msg("%s", others[i]);
}

static bool content_fits(const struct temp_folder *folder, struct bytes content) {
    temp_folder_write(folder, "x", content);
    struct temp_path path = temp_folder_path(folder, "x");
    return device_memory_content_fits(local_storage(), path.text);
}

static void contents_that_are_one(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    temp_folder_make(&folder);
    put_example(&f->file);
    struct bytes whole = wire_build_view(&f->file), compressed = gzip_bytes(whole);
    assert_true(content_fits(&folder, whole));
    assert_true(content_fits(&folder, compressed));
    assert_true(content_fits(&folder, (struct bytes){whole.data, 40}));  // cut: opening it says so
    assert_false(content_fits(&folder, (struct bytes){0}));
    assert_false(content_fits(&folder, BYTES("\x0a\x04\x08\x01\x12\x00")));         // an XSpace: a plane with a name
    assert_false(content_fits(&folder, BYTES("\x08\x01\x12\x02\x0a\x00")));         // a SavedModel
    assert_false(content_fits(&folder, BYTES("{(\x01\x00\x00\x00s\x01\x00\x00")));  // cProfile's marshal
    wire_build_free(&f->file);
    put_pair(&f->file, PPROF_SAMPLE_TYPE, MAIN, COUNT);
    put_program(&f->file);
    assert_false(content_fits(&folder, wire_build_view(&f->file)));  // a pprof of something else
    gzip_bytes_free(compressed);
    temp_folder_remove(&folder);
}

static void check_catalog(struct fixture *f, const struct temp_folder *folder, const char *below, const char *sessions,
                          const char *apart) {
    struct catalog catalog;
    struct temp_path path = temp_folder_path(folder, below);
    char found[2][512] = {"", ""};
    if (!catalog_scan(local_storage(), path.text, &f->arena, &catalog, &f->error))
        fail_msg("%s: %s", below, f->error.message);
    for (size_t i = 0; i < catalog.session_count; i++)
        snprintf(found[0] + strlen(found[0]), 100, "%s ", catalog.sessions[i].name);
    for (size_t i = 0; i < catalog.device_memory_count; i++)
        snprintf(found[1] + strlen(found[1]), 100, "%s ", catalog.device_memory[i].name);
    assert_string_equal(found[0], sessions);
    assert_string_equal(found[1], apart);
    assert_int_equal(catalog.left_out_count, 0);
}

static void where_they_lie_says_whose_they_are(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    const char *const places[] = {"memory.prof",
                                  "mem/a.prof",
                                  "mem/b.pb.gz",
                                  "plugins/profile/s/in.prof",
                                  "loose/c.prof",
                                  "plugins/profile/d.prof",
                                  "s",
                                  "odd.name"};
    temp_folder_make(&folder);
    put_example(&f->file);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        temp_folder_write(&folder, places[i], wire_build_view(&f->file));
    temp_folder_write(&folder, "loose/host.xplane.pb", BYTES("\x0a\x00"));
    temp_folder_write(&folder, "mem/cpu.prof", BYTES("no such thing"));
    temp_folder_set_age(&folder, "loose/host.xplane.pb", 1000);
    check_catalog(f, &folder, "", "s loose ", "memory.prof mem/b.pb.gz mem/a.prof d.prof ");
    check_catalog(f, &folder, "mem", "", "b.pb.gz a.prof ");
    check_catalog(f, &folder, "plugins/profile/s", "s ", "");
    check_catalog(f, &folder, "memory.prof", "", "memory.prof ");
    check_catalog(f, &folder, "odd.name", "", "odd.name ");
    struct temp_path path = temp_folder_path(&folder, "mem/cpu.prof");
    struct catalog catalog;
    assert_false(catalog_scan(local_storage(), path.text, &f->arena, &catalog, &f->error));
    temp_folder_remove(&folder);
}

static void a_name_that_a_session_has_is_told_apart(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    temp_folder_make(&folder);
    put_example(&f->file);
    temp_folder_write(&folder, "memory.prof", wire_build_view(&f->file));
    temp_folder_mkdir(&folder, "plugins/profile/memory.prof");
    check_catalog(f, &folder, "", "memory.prof ", "./memory.prof ");
    temp_folder_remove(&folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(names_that_may_be_one),
        TEST(contents_that_are_one),
        TEST(where_they_lie_says_whose_they_are),
        TEST(a_name_that_a_session_has_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
