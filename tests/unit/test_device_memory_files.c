// analysis/input/device_memory_files and the catalog: which files are device memory profiles, and whose they are.
#include "analysis/input/device_memory_files.h"
#include "analysis/input/local_storage.h"

#include "analysis/input/catalog.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/input/device_memory_look.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/counted_storage.h"
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

static bool fits(const struct storage *storage, const struct temp_folder *folder, const char *name,
                 struct bytes content) {
    temp_folder_write(folder, name, content);
    struct temp_path path = temp_folder_path(folder, name);
    bool is_broken, is_listed = device_memory_file_fits(storage, path.text, &(struct file_version){0}, &is_broken);
    assert_true(is_listed || !is_broken);
    return is_listed;
}

static bool content_fits(const struct temp_folder *folder, struct bytes content) {
    return fits(local_storage(), folder, "x.pb", content);
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
    assert_true(content_fits(&folder, (struct bytes){whole.data, 11}));  // inside the second type
    assert_false(content_fits(&folder, (struct bytes){0}));
    assert_false(content_fits(&folder, BYTES("\x0a\x04\x08\x01\x12\x00")));         // an XSpace: a plane with a name
    assert_false(content_fits(&folder, BYTES("\x08\x01\x12\x02\x0a\x00")));         // a SavedModel
    assert_false(content_fits(&folder, BYTES("{(\x01\x00\x00\x00s\x01\x00\x00")));  // cProfile's marshal
    gzip_bytes_free(compressed);
    temp_folder_remove(&folder);
}

// A name that promises a profile, and nothing of the kind inside: opening it says what is wrong.
static void what_is_broken_is_listed_where_its_name_promises_one(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    temp_folder_make(&folder);
    const struct bytes broken[] = {
        {0}, BYTES("\x0a"), BYTES("\x1f\x8b\x08"), BYTES("no such thing"), BYTES("\x12\x00")};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        assert_true(fits(local_storage(), &folder, "memory.prof", broken[i]));
        assert_true(fits(local_storage(), &folder, "h.pprof.gz", broken[i]));
        assert_false(fits(local_storage(), &folder, "saved_model.pb", broken[i]));
    }
    assert_false(fits(local_storage(), &folder, "cpu.prof", BYTES("{(\x01\x00\x00\x00s\x01\x00\x00")));
    assert_false(fits(local_storage(), &folder, "cpu.prof", BYTES("\xfb\xa9\x03")));
    put_pair(&f->file, PPROF_SAMPLE_TYPE, MAIN, COUNT);
    put_program(&f->file);
    assert_false(fits(local_storage(), &folder, "cpu.prof", wire_build_view(&f->file)));  // a pprof of something else
    temp_folder_remove(&folder);
}

// --- How far a look goes ---

// A gzip file of `head` and a payload that cannot be compressed, of `size` bytes as its length says.
static struct bytes with_payload(struct wire_build *head, uint32_t number, size_t size) {
    uint64_t random = 88172645463325252u;
    uint8_t *payload = malloc(size);
    if (!payload) abort();
    for (size_t i = 0; i < size; i++) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        payload[i] = (uint8_t)random;
    }
    wire_build_bytes(head, number, (struct bytes){payload, size});
    free(payload);
    return gzip_bytes(wire_build_view(head));
}

enum { READ_AHEAD_BYTES = 512 << 10 };

static void a_payload_is_not_read_before_its_key_is_judged(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    struct storage storage = counted_storage();
    temp_folder_make(&folder);
    struct bytes compressed = with_payload(&f->file, PPROF_SAMPLE, 4 << 20);
    assert_false(fits(&storage, &folder, "a.pb.gz", compressed));
    assert_true(atomic_load(&counted.read_bytes) < READ_AHEAD_BYTES);
    gzip_bytes_free(compressed);
    temp_folder_remove(&folder);
}

static void a_look_ends_before_a_payload_that_goes_too_far(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    struct storage storage = counted_storage();
    temp_folder_make(&folder);
    put_types(&f->file);
    struct bytes compressed = with_payload(&f->file, PPROF_SAMPLE, DEVICE_MEMORY_LOOK_BYTES + 1);
    assert_true(fits(&storage, &folder, "large.pb.gz", compressed));  // as it begins
    assert_true(atomic_load(&counted.read_bytes) < READ_AHEAD_BYTES);
    gzip_bytes_free(compressed);
    temp_folder_remove(&folder);
}

static void a_look_ends_after_very_many_fields(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    struct storage storage = counted_storage();
    temp_folder_make(&folder);
    put_types(&f->file);
    while (f->file.size < DEVICE_MEMORY_LOOK_BYTES / 2) wire_build_text(&f->file, PPROF_SAMPLE, "");
    assert_true(fits(&storage, &folder, "small.pb", wire_build_view(&f->file)));
    assert_true(atomic_load(&counted.read_bytes) < (size_t)DEVICE_MEMORY_LOOK_FIELDS * 2 + READ_AHEAD_BYTES);
    temp_folder_remove(&folder);
}

static void a_large_one_is_one_by_how_it_begins(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    struct storage storage = counted_storage();
    temp_folder_make(&folder);
    put_types(&f->file);
    for (size_t i = 0; f->file.size <= DEVICE_MEMORY_LOOK_BYTES; i++)
        put_sample(&f->file, (const uint64_t[]){1, 2, 3, 4, 5, 6, 7, 8, 0}, i, i, BUFFER, CPU_0);
    put_program(&f->file);
    assert_true(fits(&storage, &folder, "large.pb", wire_build_view(&f->file)));
    assert_true(atomic_load(&counted.read_bytes) < DEVICE_MEMORY_LOOK_BYTES + READ_AHEAD_BYTES);
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
    temp_folder_write(&folder, "mem/cpu.prof", BYTES("{(\x01\x00\x00"));
    temp_folder_write(&folder, "mem/graph.pb", BYTES("no such thing"));
    temp_folder_write(&folder, "mem/no.name", BYTES("no such thing"));
    temp_folder_set_age(&folder, "loose/host.xplane.pb", 1000);
    check_catalog(f, &folder, "", "s loose ", "memory.prof mem/b.pb.gz mem/a.prof d.prof ");
    check_catalog(f, &folder, "mem", "", "b.pb.gz a.prof ");
    check_catalog(f, &folder, "plugins/profile/s", "s ", "");
    check_catalog(f, &folder, "memory.prof", "", "memory.prof ");
    check_catalog(f, &folder, "odd.name", "", "odd.name ");
    temp_folder_remove(&folder);
}

static void check_refusal(struct fixture *f, const struct temp_folder *folder, const char *name, struct bytes content,
                          const char *words) {
    struct catalog catalog;
    struct temp_path path = temp_folder_path(folder, name);
    temp_folder_write(folder, name, content);
    assert_false(catalog_scan(local_storage(), path.text, &f->arena, &catalog, &f->error));
    if (!strstr(f->error.message, words)) fail_msg("%s: %s", name, f->error.message);
    assert_string_equal(folder_last_name(f->error.file), name);
}

static void a_file_that_is_none_is_refused_by_its_content(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    temp_folder_make(&folder);
    check_refusal(f, &folder, "cpu.prof", BYTES("{(\x01\x00\x00"), "cProfile");
    check_refusal(f, &folder, "a.pb", (struct bytes){0}, "the file is empty");
    assert_int_equal(f->error.offset, 0);
    check_refusal(f, &folder, "b.pb.gz", BYTES("\x1f\x8b\x08"), "the gzip stream ends early");
    check_refusal(f, &folder, "c.pb", BYTES("\x12\x00"), "expected a sample type of pprof (field 1)");
    assert_int_equal(f->error.offset, 0);
    check_refusal(f, &folder, "no.name", BYTES("no such thing"), "its name is not that of a profile");
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
        TEST(what_is_broken_is_listed_where_its_name_promises_one),
        TEST(a_payload_is_not_read_before_its_key_is_judged),
        TEST(a_look_ends_before_a_payload_that_goes_too_far),
        TEST(a_look_ends_after_very_many_fields),
        TEST(a_large_one_is_one_by_how_it_begins),
        TEST(where_they_lie_says_whose_they_are),
        TEST(a_file_that_is_none_is_refused_by_its_content),
        TEST(a_name_that_a_session_has_is_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
