// analysis/input/catalog: every shape of path, XProf's names and order, what is pending and what is left out.
#include "analysis/input/catalog.h"
#include "analysis/input/byte_source.h"
#include "analysis/input/local_storage.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/temp_folder.h"

#define WHOLE BYTES("\x0a\x00\x0a\x00")
#define CUT BYTES("\x0a\x00\x0a\x7f")

struct fixture {
    struct temp_folder folder;
    struct arena arena;
    struct catalog catalog;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    temp_folder_make(&fixture->folder);
    arena_init(&fixture->arena, 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    temp_folder_remove(&fixture->folder);
    arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

static void add(struct fixture *f, const char *below) {
    temp_folder_write(&f->folder, below, WHOLE);
}

static void scan(struct fixture *f, const char *below) {
    struct temp_path path = temp_folder_path(&f->folder, below);
    if (!catalog_scan(local_storage(), path.text, &f->arena, &f->catalog, &f->error))
        fail_msg("%s: %s", path.text, f->error.message);
}

// The run names, in their order, with spaces between.
static void check_sessions(struct fixture *f, const char *expected) {
    char found[4096] = "";
    for (size_t i = 0; i < f->catalog.session_count; i++) {
        const struct catalog_session *session = &f->catalog.sessions[i];
        size_t size = strlen(found);
        snprintf(found + size, sizeof found - size, "%s%s", i ? " " : "", session->name);
        assert_ptr_equal(catalog_find(&f->catalog, bytes_of(session->name)), session);
        assert_int_equal(session->place.path[0], '/');
    }
    assert_string_equal(found, expected);
}

static void check_files(struct fixture *f, const char *session, const char *expected) {
    struct session_files files;
    const struct catalog_session *found = catalog_find(&f->catalog, bytes_of(session));
    char names[4096] = "";
    assert_non_null(found);
    assert_true(session_files_list(&found->place, SESSION_PROFILES_OR_HLO, &f->arena, &files, &f->error));
    for (size_t i = 0; i < files.file_count; i++) {
        const struct input_file *file = &files.files[i];
        size_t size = strlen(names);
        snprintf(names + size, sizeof names - size, "%s%s", i ? " " : "", file->name);
        assert_int_equal(file->kind == PROFILE_FILE_XPLANE, i < files.host_count);
        assert_true(bytes_ends_with(bytes_of(file->path), bytes_of(file->name)));
        if (file->kind == PROFILE_FILE_XPLANE)
            assert_true(bytes_starts_with(bytes_of(file->name), bytes_of(file->host)) && file->host[0]);
        else  // one of several programs is known by its file
            assert_string_equal(file->host, files.file_count > 1 && !file->program ? file->name : "");
    }
    assert_string_equal(names, expected);
}

static void check_remark(const struct input_remark *remark, const char *path, const char *words) {
    if (!bytes_ends_with(bytes_of(remark->path), bytes_of(path))) fail_msg("%s is not %s", remark->path, path);
    if (!strstr(remark->reason, words)) fail_msg("not about '%s': %s", words, remark->reason);
}

// --- Shapes of paths ---

static void a_log_root_with_nested_runs(void **state) {
    struct fixture *f = *state;
    add(f, "plugins/profile/2026_01_01/a.xplane.pb");
    add(f, "plugins/profile/2026_01_02/a.xplane.pb");
    add(f, "train/plugins/profile/2026_01_01/a.xplane.pb");
    add(f, "train/deep/er/plugins/profile/x/a.xplane.pb");
    temp_folder_mkdir(&f->folder, "plugins/profile/empty");
    add(f, "plugins/profile/only_cache/jit_f(1).hlo_proto.pb");
    add(f, "plugins/profile/loose_file.txt");
    add(f, "plugins/other/y/z");
    scan(f, "");
    check_sessions(f, "train/deep/er/x train/2026_01_01 only_cache empty 2026_01_02 2026_01_01");
    check_files(f, "train/deep/er/x", "a.xplane.pb");
    check_files(f, "empty", "");
    check_files(f, "only_cache", "jit_f(1).hlo_proto.pb");
    assert_null(catalog_find(&f->catalog, BYTES("nothing")));
    assert_null(catalog_find(&f->catalog, BYTES("../2026_01_01")));
    assert_null(catalog_find(&f->catalog, BYTES("")));
}

static void any_depth_of_the_same_tree(void **state) {
    struct fixture *f = *state;
    add(f, "log/plugins/profile/s1/a.xplane.pb");
    add(f, "log/plugins/profile/s2/b.xplane.pb");
    temp_folder_mkdir(&f->folder, "log/plugins/profile/s3");
    const char *const roots[] = {"log",
                                 "log/",
                                 "log//",
                                 "log/plugins",
                                 "log/plugins/",
                                 "log/plugins/profile",
                                 "log/plugins/profile/",
                                 "log/../log/./plugins/profile"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        scan(f, roots[i]);
        check_sessions(f, "s3 s2 s1");
    }
    scan(f, "");
    check_sessions(f, "log/s3 log/s2 log/s1");
    scan(f, "log/plugins/profile/s1");
    check_sessions(f, "s1");
    check_files(f, "s1", "a.xplane.pb");
    scan(f, "log/plugins/profile/s3/");
    check_sessions(f, "s3");
    check_files(f, "s3", "");
}

static void loose_folders(void **state) {
    struct fixture *f = *state;
    add(f, "traces/b.xplane.pb");
    add(f, "traces/a.xplane.pb.gz");
    add(f, "runs/one/a.xplane.pb");
    add(f, "runs/two/deep/a.xplane.pb");
    add(f, "runs/three/readme.txt");
    scan(f, "traces");
    check_sessions(f, "traces");
    check_files(f, "traces", "a.xplane.pb.gz b.xplane.pb");
    scan(f, "runs");
    check_sessions(f, "two/deep one");
    scan(f, "runs/three");
    check_sessions(f, "");
}

static void a_folder_of_hlo_files(void **state) {
    struct fixture *f = *state;
    add(f, "hlo/jit_b.hlo.pb");
    add(f, "hlo/jit_a(1).hlo_proto.pb.gz");
    add(f, "hlo/NO_MODULE.hlo_proto.pb");
    add(f, "hlo/notes.txt");
    scan(f, "hlo");
    check_sessions(f, "hlo");
    check_files(f, "hlo", "jit_a(1).hlo_proto.pb.gz jit_b.hlo.pb");
    scan(f, "");
    check_sessions(f, "");  // not picked up from a root above: a dump may lie anywhere
}

static void one_file(void **state) {
    struct fixture *f = *state;
    const char *const names[][2] = {
        {"host-0.xplane.pb", "host-0"},
        {"host-1.xplane.pb.gz", "host-1"},
        {"jit_f(3).hlo_proto.pb", "jit_f(3)"},
        {"x.y.hlo.pb", "x.y"},
        {"z.hlo.pb.gz", "z"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        add(f, names[i][0]);
        scan(f, names[i][0]);
        check_sessions(f, names[i][1]);
        check_files(f, names[i][1], names[i][0]);
    }
    temp_folder_link(&f->folder, "links/named.xplane.pb", "../host-0.xplane.pb");
    scan(f, "links/named.xplane.pb");
    check_sessions(f, "named");
    check_files(f, "named", "named.xplane.pb");
}

static void relative_paths(void **state) {
    struct fixture *f = *state;
    char before[1024];
    add(f, "log/plugins/profile/s1/a.xplane.pb");
    add(f, "b.xplane.pb");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(f->folder.path), 0);
    const char *const paths[][2] = {
        {"log", "s1"}, {"./log/", "s1"}, {"log/plugins", "s1"}, {"b.xplane.pb", "b"}, {"./b.xplane.pb", "b"}};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_true(catalog_scan(local_storage(), paths[i][0], &f->arena, &f->catalog, &f->error));
        check_sessions(f, paths[i][1]);
        assert_int_equal(f->catalog.root[0], '/');
    }
    assert_true(catalog_scan(local_storage(), ".", &f->arena, &f->catalog, &f->error));
    assert_int_equal(f->catalog.session_count, 2);
    assert_int_equal(chdir(before), 0);
}

static void a_root_that_is_several_things(void **state) {
    struct fixture *f = *state;
    add(f, "root/here.xplane.pb");
    add(f, "root/train/a.xplane.pb");
    add(f, "root/plugins/profile/train/b.xplane.pb");
    add(f, "root/plugins/profile/train/inner/c.xplane.pb");
    scan(f, "root");
    check_sessions(f, "train root plugins/profile/train/inner ./train");
    check_files(f, "train", "b.xplane.pb");
    check_files(f, "./train", "a.xplane.pb");
    check_files(f, "root", "here.xplane.pb");
}

static void hidden_and_odd_names(void **state) {
    struct fixture *f = *state;
    add(f, ".cache/plugins/profile/.s/.h.xplane.pb");
    add(f, "plugins/profile/with space/a b.xplane.pb");
    add(f, "plugins/profile/\xff\xfe/.xplane.pb");
    scan(f, "");
    check_sessions(f, "\xff\xfe with space .cache/.s");
    check_files(f, ".cache/.s", ".h.xplane.pb");
    check_files(f, "with space", "a b.xplane.pb");
    check_files(f, "\xff\xfe", "");  // a host without a name is none
}

// --- Files of a session ---

static void hosts_by_name_and_no_cache_files(void **state) {
    struct fixture *f = *state;
    add(f, "plugins/profile/s/worker10.xplane.pb");
    add(f, "plugins/profile/s/worker1.xplane.pb");
    add(f, "plugins/profile/s/worker1-b.xplane.pb");
    add(f, "plugins/profile/s/jit_f(1).hlo_proto.pb");
    add(f, "plugins/profile/s/ALL_HOSTS.op_stats_v2.pb");
    add(f, "plugins/profile/s/worker1.trace.json.gz");
    temp_folder_mkdir(&f->folder, "plugins/profile/s/folder.xplane.pb");
    scan(f, "");
    check_sessions(f, "s");
    check_files(f, "s", "worker1.xplane.pb worker1-b.xplane.pb worker10.xplane.pb");
}

static void the_plain_file_of_a_host_wins(void **state) {
    struct fixture *f = *state;
    struct session_files files;
    add(f, "plugins/profile/s/a.xplane.pb.gz");
    add(f, "plugins/profile/s/a.xplane.pb");
    scan(f, "");
    check_files(f, "s", "a.xplane.pb");
    assert_true(
        session_files_list(&f->catalog.sessions[0].place, SESSION_PROFILES_OR_HLO, &f->arena, &files, &f->error));
    assert_int_equal(files.left_out_count, 1);
    check_remark(&files.left_out[0], "a.xplane.pb.gz", "uncompressed file is beside it");
}

static void files_are_listed_as_they_are_now(void **state) {
    struct fixture *f = *state;
    struct session_files files;
    add(f, "plugins/profile/s/a.xplane.pb");
    scan(f, "");
    add(f, "plugins/profile/s/b.xplane.pb");
    check_files(f, "s", "a.xplane.pb b.xplane.pb");
    struct temp_folder moved = f->folder;
    struct temp_path path = temp_folder_path(&f->folder, "plugins/profile/s");
    struct temp_path aside = temp_folder_path(&moved, "plugins/aside");
    assert_int_equal(rename(path.text, aside.text), 0);
    assert_false(
        session_files_list(&f->catalog.sessions[0].place, SESSION_PROFILES_OR_HLO, &f->arena, &files, &f->error));
    assert_int_equal(f->error.code, ERROR_NOT_FOUND);
    assert_string_equal(f->error.file, path.text);
}

// --- Pending ---

static void a_session_that_is_being_written_is_pending(void **state) {
    struct fixture *f = *state;
    struct bytes compressed = gzip_bytes(WHOLE);
    temp_folder_write(&f->folder, "plugins/profile/cut/a.xplane.pb", CUT);
    temp_folder_write(&f->folder, "plugins/profile/empty/a.xplane.pb", (struct bytes){0});
    temp_folder_write(&f->folder, "plugins/profile/gz/a.xplane.pb.gz",
                      (struct bytes){compressed.data, compressed.size - 3});
    temp_folder_write(&f->folder, "plugins/profile/two_hosts/a.xplane.pb", WHOLE);
    temp_folder_write(&f->folder, "plugins/profile/two_hosts/b.xplane.pb", CUT);
    temp_folder_write(&f->folder, "plugins/profile/whole_gz/a.xplane.pb.gz", compressed);
    temp_folder_write(&f->folder, "plugins/profile/wrong/a.xplane.pb", BYTES("\x0f"));
    add(f, "plugins/profile/whole/a.xplane.pb");
    scan(f, "");
    check_sessions(f, "wrong whole_gz whole");
    assert_int_equal(f->catalog.pending_count, 4);
    check_remark(&f->catalog.pending[0], "/cut", "a.xplane.pb is still being written");
    check_remark(&f->catalog.pending[3], "/two_hosts", "b.xplane.pb is still being written");
    temp_folder_set_age(&f->folder, "plugins/profile/cut/a.xplane.pb", CATALOG_WRITING_SECONDS + 5);
    temp_folder_set_age(&f->folder, "plugins/profile/empty/a.xplane.pb", CATALOG_WRITING_SECONDS + 5);
    temp_folder_set_age(&f->folder, "plugins/profile/gz/a.xplane.pb.gz", -10000);
    add(f, "plugins/profile/two_hosts/b.xplane.pb");
    scan(f, "");
    check_sessions(f, "wrong whole_gz whole two_hosts gz empty cut");
    assert_int_equal(f->catalog.pending_count, 0);
    gzip_bytes_free(compressed);
}

static void a_single_file_may_be_pending(void **state) {
    struct fixture *f = *state;
    temp_folder_write(&f->folder, "a.xplane.pb", CUT);
    scan(f, "a.xplane.pb");
    check_sessions(f, "");
    assert_int_equal(f->catalog.pending_count, 1);
    check_remark(&f->catalog.pending[0], "/a.xplane.pb", "still being written");
}

// --- Links ---

static void links_inside_the_root_are_followed(void **state) {
    struct fixture *f = *state;
    add(f, "plugins/profile/s1/a.xplane.pb");
    add(f, "store/b.xplane.pb.data");
    temp_folder_link(&f->folder, "plugins/profile/latest", "s1");
    temp_folder_link(&f->folder, "plugins/profile/s1/b.xplane.pb", "../../../store/b.xplane.pb.data");
    scan(f, "");
    check_sessions(f, "s1 latest");
    check_files(f, "s1", "a.xplane.pb b.xplane.pb");
    assert_int_equal(f->catalog.left_out_count, 0);
}

static void links_out_of_the_root_are_left_out(void **state) {
    struct fixture *f = *state;
    add(f, "log/plugins/profile/s1/a.xplane.pb");
    add(f, "outside/x/secret.xplane.pb");
    add(f, "log2/plugins/profile/s/a.xplane.pb");
    temp_folder_link(&f->folder, "log/plugins/profile/s2", "../../../outside/x");
    temp_folder_link(&f->folder, "log/plugins/profile/s3", "../../../log2");  // a sibling whose name begins alike
    temp_folder_link(&f->folder, "log/plugins/profile/s1/b.xplane.pb", "../../../../outside/x/secret.xplane.pb");
    temp_folder_link(&f->folder, "log/plugins/profile/s1/c.xplane.pb", "nowhere");
    temp_folder_link(&f->folder, "log/plugins/profile/s1/notes", "/etc/passwd");
    scan(f, "log");
    check_sessions(f, "s1");
    check_files(f, "s1", "a.xplane.pb");
    assert_int_equal(f->catalog.left_out_count, 3);
    check_remark(&f->catalog.left_out[0], "/b.xplane.pb", "leads out of the opened folder; --follow_symlinks");
    check_remark(&f->catalog.left_out[1], "/c.xplane.pb", "leads nowhere");
    check_remark(&f->catalog.left_out[2], "/s2", "outside the opened one, and so are 1 more; --follow_symlinks");
}

static bool opens(struct fixture *f, const char *path) {
    struct byte_source *source = byte_source_open(f->catalog.storage, path, &f->error);
    byte_source_close(source);
    return source;
}

// A link is put in the place of a file, or of a folder above it, that was listed as what it is.
static void links_out_of_the_root_are_not_opened(void **state) {
    struct fixture *f = *state;
    struct folder folder;
    add(f, "log/s1/a.xplane.pb");
    add(f, "log/s2/a.xplane.pb");
    add(f, "log/s2/b.xplane.pb");
    add(f, "outside/a.xplane.pb");
    scan(f, "log");
    struct temp_path files[] = {temp_folder_path(&f->folder, "log/s1/a.xplane.pb"),
                                temp_folder_path(&f->folder, "log/s2/b.xplane.pb")};
    struct temp_path replaced = temp_folder_path(&f->folder, "log/s1"), moved = temp_folder_path(&f->folder, "log/s3");
    for (size_t i = 0; i < 2; i++) assert_true(opens(f, files[i].text));
    assert_int_equal(rename(replaced.text, moved.text), 0);
    temp_folder_link(&f->folder, "log/s1", "../outside");
    assert_int_equal(unlink(files[1].text), 0);
    temp_folder_link(&f->folder, "log/s2/b.xplane.pb", "../../outside/a.xplane.pb");
    for (size_t i = 0; i < 2; i++) {
        assert_false(opens(f, files[i].text));
        assert_int_equal(f->error.code, ERROR_UNREADABLE);
        assert_non_null(strstr(f->error.message, "--follow_symlinks"));
    }
    assert_false(storage_list(f->catalog.storage, replaced.text, 10, &f->arena, &folder, &f->error));
    temp_folder_link(&f->folder, "log/s2/c.xplane.pb", "../s3/a.xplane.pb");
    assert_true(opens(f, temp_folder_path(&f->folder, "log/s2/c.xplane.pb").text));
    f->catalog.storage->follows_links = true;
    for (size_t i = 0; i < 2; i++) assert_true(opens(f, files[i].text));
}

static void links_in_a_circle_end(void **state) {
    struct fixture *f = *state;
    add(f, "a/plugins/profile/s/h.xplane.pb");
    temp_folder_mkdir(&f->folder, "b");
    temp_folder_link(&f->folder, "a/to_b", "../b");
    temp_folder_link(&f->folder, "b/to_a", "../a");
    temp_folder_link(&f->folder, "a/up", "..");
    temp_folder_link(&f->folder, "self", "self");
    scan(f, "");
    check_sessions(f, "b/to_a/s a/s");
    assert_true(f->catalog.left_out_count >= 3);
    check_remark(&f->catalog.left_out[0], "/a/to_b/to_a", "a folder that it lies in");
}

static void a_very_deep_tree_ends(void **state) {
    struct fixture *f = *state;
    char below[TEMP_FOLDER_PATH_BYTES] = "";
    for (int i = 0; i < CATALOG_MAX_DEPTH + 5; i++) memcpy(below + strlen(below), "d/", 3);
    add(f, "plugins/profile/s/a.xplane.pb");
    temp_folder_mkdir(&f->folder, below);
    scan(f, "");
    check_sessions(f, "s");
    assert_int_equal(f->catalog.left_out_count, 1);
    check_remark(&f->catalog.left_out[0], "/d/d", "too deep");
}

// --- What cannot be opened ---

static void check_cannot_open(struct fixture *f, const char *path, enum error_code code, const char *words) {
    assert_false(catalog_scan(local_storage(), path, &f->arena, &f->catalog, &f->error));
    assert_int_equal(f->error.code, code);
    if (!strstr(f->error.message, words)) fail_msg("not about '%s': %s", words, f->error.message);
    const char *advice = code == ERROR_UNREADABLE ? "check its permissions" : "give a log folder";
    if (!strstr(f->error.message, advice)) fail_msg("does not say what to do: %s", f->error.message);
    assert_null(strchr(f->error.message, '\n'));
}

static void a_path_that_is_not_there(void **state) {
    struct fixture *f = *state;
    struct temp_path missing = temp_folder_path(&f->folder, "missing"), text = temp_folder_path(&f->folder, "a.txt");
    struct temp_path under_file = temp_folder_path(&f->folder, "a.txt/b"),
                     fifo = temp_folder_path(&f->folder, "f.hlo.pb");
    add(f, "a.txt");
    assert_int_equal(mkfifo(fifo.text, 0600), 0);
    check_cannot_open(f, missing.text, ERROR_NOT_FOUND, "No such file");
    assert_string_equal(f->error.file, missing.text);
    check_cannot_open(f, "", ERROR_NOT_FOUND, "No such file");
    check_cannot_open(f, under_file.text, ERROR_NOT_FOUND, "Not a directory");
    check_cannot_open(f, text.text, ERROR_BAD_REQUEST, "not that of a profile");
    check_cannot_open(f, fifo.text, ERROR_BAD_REQUEST, "not a regular file");
}

static void folders_that_cannot_be_read(void **state) {
    struct fixture *f = *state;
    add(f, "log/plugins/profile/s1/a.xplane.pb");
    temp_folder_mkdir(&f->folder, "log/plugins/profile/closed");
    struct temp_path closed = temp_folder_path(&f->folder, "log/plugins/profile/closed");
    assert_int_equal(chmod(closed.text, 0), 0);
    bool is_root = geteuid() == 0;  // whom no permission stops
    assert_int_equal(chmod(f->folder.path, 0755), 0);
    if (is_root && seteuid(65534) != 0) skip();
    scan(f, "log");
    check_sessions(f, "s1");
    assert_int_equal(f->catalog.left_out_count, 1);
    check_remark(&f->catalog.left_out[0], "/closed", "Permission denied");
    check_cannot_open(f, closed.text, ERROR_UNREADABLE, "Permission denied");
    if (is_root) assert_int_equal(seteuid(0), 0);
}

// --- Size ---

static void little_memory_is_an_error(void **state) {
    struct fixture *f = *state;
    struct arena small;
    for (int i = 0; i < 200; i++) {
        char below[64];
        snprintf(below, sizeof below, "plugins/profile/run_%05d", i);
        temp_folder_mkdir(&f->folder, below);
    }
    for (size_t limit = 16; limit < 64 << 10; limit *= 2) {
        arena_init(&small, limit);
        bool ok = catalog_scan(local_storage(), f->folder.path, &small, &f->catalog, &f->error);
        assert_true(ok ? f->catalog.session_count == 200 : f->error.code != ERROR_NONE && f->error.message[0]);
        arena_free(&small);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_log_root_with_nested_runs),
        TEST(any_depth_of_the_same_tree),
        TEST(loose_folders),
        TEST(a_folder_of_hlo_files),
        TEST(one_file),
        TEST(relative_paths),
        TEST(a_root_that_is_several_things),
        TEST(hidden_and_odd_names),
        TEST(hosts_by_name_and_no_cache_files),
        TEST(the_plain_file_of_a_host_wins),
        TEST(files_are_listed_as_they_are_now),
        TEST(a_session_that_is_being_written_is_pending),
        TEST(a_single_file_may_be_pending),
        TEST(links_inside_the_root_are_followed),
        TEST(links_out_of_the_root_are_left_out),
        TEST(links_out_of_the_root_are_not_opened),
        TEST(links_in_a_circle_end),
        TEST(a_very_deep_tree_ends),
        TEST(a_path_that_is_not_there),
        TEST(folders_that_cannot_be_read),
        TEST(little_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
