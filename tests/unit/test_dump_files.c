// analysis/input/dump_name, dump_files, and the catalog's dump folders: which files are a module, what it is called.
#include "analysis/input/dump_files.h"
#include "analysis/input/local_storage.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/input/byte_source.h"
#include "analysis/input/catalog.h"
#include "analysis/input/program_index.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/temp_folder.h"

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
    temp_folder_write(&f->folder, below, BYTES("\x0a\x00"));
}

static void scan(struct fixture *f, const char *below) {
    struct temp_path path = temp_folder_path(&f->folder, below);
    if (!catalog_scan(local_storage(), path.text, &f->arena, &f->catalog, &f->error))
        fail_msg("%s: %s", path.text, f->error.message);
}

static void append(char text[4096], const char *word) {
    size_t size = strlen(text);
    snprintf(text + size, 4096 - size, "%s%s", size ? " " : "", word);
}

static void check_sessions(struct fixture *f, const char *expected) {
    char found[4096] = "";
    for (size_t i = 0; i < f->catalog.session_count; i++) append(found, f->catalog.sessions[i].name);
    assert_string_equal(found, expected);
}

// Program names of the session's files; the file's own name where it has none.
static void check_programs(struct fixture *f, const char *session, const char *expected) {
    struct session_files files;
    const struct catalog_session *found = catalog_find(&f->catalog, bytes_of(session));
    char names[4096] = "";
    assert_non_null(found);
    assert_true(session_files_list(&found->place, SESSION_PROFILES_OR_HLO, &f->arena, &files, &f->error));
    for (size_t i = 0; i < files.file_count; i++)
        append(names, files.files[i].program ? files.files[i].program : files.files[i].name);
    assert_string_equal(names, expected);
}

static void check_name(const char *file_name, enum dump_part part, const char *module, uint64_t number) {
    struct dump_name name = dump_name_parse(bytes_of(file_name));
    if (name.part != part) fail_msg("%s: part %d", file_name, (int)name.part);
    if (!module) return;
    assert_int_equal(name.number, number);
    if (!bytes_equal(name.module, bytes_of(module)))
        fail_msg("%s: module %.*s", file_name, (int)name.module.size, (const char *)name.module.data);
}

static void names_of_every_back_end(void **state) {
    (void)state;
    check_name("module_0005.jit_f.cl_987654321.after_optimizations.hlo.pb", DUMP_PART_PROTO, "jit_f", 5);
    check_name("module_0005.jit_f.after_optimizations.hlo.pb.gz", DUMP_PART_PROTO, "jit_f", 5);
    check_name("module_0006.jit_f.cpu_after_optimizations.hlo.pb", DUMP_PART_PROTO, "jit_f", 6);
    check_name("module_0007.jit_f.sm_9.0_gpu_after_optimizations.hlo.pb", DUMP_PART_PROTO, "jit_f", 7);
    check_name("module_0007.jit_f.gfx942_gpu_after_optimizations.hlo.pb", DUMP_PART_PROTO, "jit_f", 7);
    check_name("1700000000123456.module_12345.a.b.cl_1.after_optimizations.txt", DUMP_PART_PROGRAM, "a.b", 12345);
    check_name("module_0009.after_optimizations-buffer-assignment.txt", DUMP_PART_ASSIGNMENT, "module", 9);
    check_name("module_0009.f.cpu_after_optimizations-buffer-assignment-values.txt", DUMP_PART_VALUES, "f", 9);
    check_name("module_0009.f.cl_1.after_optimizations-live-range.txt", DUMP_PART_LIVE_RANGE, "f", 9);
    check_name("module_0009.f.after_optimizations-memory-usage-report.pb", DUMP_PART_REPORT_PROTO, "f", 9);
    check_name("module_0009.f.after_optimizations-memory-usage-report.txt.gz", DUMP_PART_REPORT_TEXT, "f", 9);
    check_name("module_0009.f.cl_1.oom_intermediate_module.hlo.pb", DUMP_PART_OOM_PROTO, "f", 9);
    check_name("module_0009.f.cl_1.oom_intermediate_module.txt", DUMP_PART_OOM_TEXT, "f", 9);
}

static void other_stages_and_other_files(void **state) {
    (void)state;
    check_name("module_0005.jit_f.cl_1.before_optimizations.hlo.pb", DUMP_PART_OTHER, NULL, 0);
    check_name("module_0005.jit_f.cl_1.after_optimizations_after_buffer_assignment.hlo.pb", DUMP_PART_OTHER, NULL, 0);
    check_name("module_0005.jit_f.cl_1.after_codegen.hlo.pb", DUMP_PART_OTHER, NULL, 0);
    check_name("module_0005.jit_fafter_optimizations.hlo.pb", DUMP_PART_OTHER, NULL, 0);
    check_name("jit_f.after_optimizations.hlo.pb", DUMP_PART_NONE, NULL, 0);
    check_name("module_.after_optimizations.hlo.pb", DUMP_PART_NONE, NULL, 0);
    check_name("module_12345678901234567890.f.after_optimizations.hlo.pb", DUMP_PART_NONE, NULL, 0);
    check_name("", DUMP_PART_NONE, NULL, 0);
    check_name(".gz", DUMP_PART_NONE, NULL, 0);
}

static void a_session_for_each_folder(void **state) {
    struct fixture *f = *state;
    add(f, "dump/module_0001.jit_f.cl_1.after_optimizations.hlo.pb");
    add(f, "dump/module_0001.jit_f.cl_1.before_optimizations.hlo.pb");
    add(f, "dump/module_0001.jit_f.cl_1.after_codegen.hlo.pb");
    add(f, "dump/module_0002.jit_g.cl_1.after_optimizations-buffer-assignment.txt");
    add(f, "dump/runs/one/module_0003.jit_h.cpu_after_optimizations.hlo.pb.gz");
    add(f, "dump/runs/none/module_0004.jit_h.before_optimizations.hlo.pb");
    add(f, "dump/runs/none/other.hlo.pb");
    scan(f, "dump");
    check_sessions(f, "runs/one dump");
    check_programs(f, "dump", "jit_f(1) jit_g(2)");
    check_programs(f, "runs/one", "jit_h(3)");
}

static void proto_before_text_and_plain_before_gz(void **state) {
    struct fixture *f = *state;
    struct session_files files;
    add(f, "dump/module_0001.jit_f.after_optimizations.hlo.pb");
    add(f, "dump/module_0001.jit_f.after_optimizations.hlo.pb.gz");
    add(f, "dump/module_0001.jit_f.after_optimizations-buffer-assignment.txt");
    add(f, "dump/jit_x.hlo_proto.pb");
    scan(f, "dump");
    check_programs(f, "dump", "jit_x.hlo_proto.pb jit_f(1)");
    assert_true(
        session_files_list(&f->catalog.sessions[0].place, SESSION_PROFILES_OR_HLO, &f->arena, &files, &f->error));
    assert_int_equal(files.files[0].kind, PROFILE_FILE_HLO);
    assert_int_equal(files.files[1].kind, PROFILE_FILE_DUMP_PROTO);
    assert_string_equal(files.files[1].name, "module_0001.jit_f.after_optimizations.hlo.pb");
}

static void no_two_modules_have_one_name(void **state) {
    struct fixture *f = *state;
    add(f, "dump/1700.module_0001.jit_f.after_optimizations.hlo.pb");
    add(f, "dump/1800.module_0001.jit_f.after_optimizations.hlo.pb");
    add(f, "dump/module_0001.jit_f.cl_2.after_optimizations.hlo.pb");
    add(f, "dump/module_1.jit_g.after_optimizations.hlo.pb");
    scan(f, "dump");
    check_programs(f, "dump", "jit_f(1) 1800.module_0001.jit_f(1) module_0001.jit_f.cl_2(1) jit_g(1)");
}

static void what_was_recognised_before_stays(void **state) {
    struct fixture *f = *state;
    add(f, "both/host.xplane.pb");
    add(f, "both/module_0001.jit_f.after_optimizations.hlo.pb");
    add(f, "root/module_0001.jit_f.before_optimizations.hlo.pb");
    add(f, "log/plugins/profile/run/module_0001.jit_f.after_optimizations.hlo.pb");
    add(f, "log/plugins/profile/run/module_0001.jit_f.before_optimizations.hlo.pb");
    scan(f, "both");
    check_programs(f, "both", "host.xplane.pb");
    scan(f, "root");
    check_programs(f, "root", "module_0001.jit_f.before_optimizations.hlo.pb");
    scan(f, "log");
    check_programs(f, "run",
                   "module_0001.jit_f.after_optimizations.hlo.pb module_0001.jit_f.before_optimizations.hlo.pb");
    scan(f, "root/module_0001.jit_f.before_optimizations.hlo.pb");
    check_sessions(f, "module_0001.jit_f.before_optimizations");
}

static void a_cut_module_does_not_hold_back_its_dump(void **state) {
    struct fixture *f = *state;
    temp_folder_write(&f->folder, "dump/module_0001.f.after_optimizations.hlo.pb", BYTES("\x0a\x7f"));
    add(f, "dump/module_0002.g.after_optimizations.hlo.pb");
    scan(f, "dump");
    check_sessions(f, "dump");
    assert_int_equal(f->catalog.pending_count, 0);
}

static void one_text_is_a_session(void **state) {
    struct fixture *f = *state;
    const char *name = "module_0003.jit_f.cl_1.after_optimizations-buffer-assignment.txt";
    temp_folder_write(&f->folder, name, BYTES("BufferAssignment:\n"));
    scan(f, name);
    check_sessions(f, name);
    check_programs(f, name, name);
    add(f, "module_0003.jit_f.cl_1.after_optimizations.txt");
    struct temp_path other = temp_folder_path(&f->folder, "module_0003.jit_f.cl_1.after_optimizations.txt");
    assert_false(catalog_scan(local_storage(), other.text, &f->arena, &f->catalog, &f->error));
    assert_non_null(strstr(f->error.message, "--xla_dump_to"));
}

static void check_beside(struct fixture *f, enum dump_part part, const char *expected) {
    struct temp_path path = temp_folder_path(&f->folder, "module_0001.f.after_optimizations.hlo.pb");
    const char *found = dump_files_beside(local_storage(), path.text, part, &f->arena);
    if (!expected) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_string_equal(found, temp_folder_path(&f->folder, expected).text);
}

static void what_lies_beside_a_module(void **state) {
    struct fixture *f = *state;
    add(f, "module_0001.f.after_optimizations-memory-usage-report.pb.gz");
    add(f, "module_0001.f.oom_intermediate_module.hlo.pb");
    add(f, "module_0001.g.after_optimizations.txt");
    temp_folder_link(&f->folder, "module_0001.f.after_optimizations-live-range.txt", "/etc/passwd");
    check_beside(f, DUMP_PART_REPORT_PROTO, "module_0001.f.after_optimizations-memory-usage-report.pb.gz");
    check_beside(f, DUMP_PART_OOM_PROTO, "module_0001.f.oom_intermediate_module.hlo.pb");
    check_beside(f, DUMP_PART_PROGRAM, NULL);
    check_beside(f, DUMP_PART_LIVE_RANGE, NULL);
    check_beside(f, DUMP_PART_OTHER, NULL);
    assert_null(dump_files_beside(local_storage(), "x.hlo.pb", DUMP_PART_PROTO, &f->arena));
}

static void the_stamp_follows_what_lies_beside(void **state) {
    struct fixture *f = *state;
    struct temp_path path = temp_folder_path(&f->folder, "module_0001.f.after_optimizations.hlo.pb");
    assert_string_equal(dump_files_stamp(local_storage(), path.text, &f->arena), "");
    add(f, "module_0001.f.after_optimizations-memory-usage-report.pb");
    const char *first = dump_files_stamp(local_storage(), path.text, &f->arena);
    assert_string_not_equal(first, "");
    assert_string_equal(dump_files_stamp(local_storage(), path.text, &f->arena), first);
    temp_folder_set_age(&f->folder, "module_0001.f.after_optimizations-memory-usage-report.pb", 1000);
    assert_string_not_equal(dump_files_stamp(local_storage(), path.text, &f->arena), first);
    assert_string_equal(dump_files_stamp(local_storage(), "jit_f(1).hlo_proto.pb", &f->arena), "");
}

static bool index_text(struct fixture *f, struct bytes content, struct xspace_index *index) {
    static char path[] = "x", host[] = "", program[] = "jit_f(3)";
    static char name[] = "module_0003.jit_f.after_optimizations-buffer-assignment.txt";
    struct input_file file = {
        .path = path, .name = name, .host = host, .program = program, .kind = PROFILE_FILE_DUMP_TEXT};
    struct byte_source *source = byte_source_of_memory(content, "x", &f->error);
    bool is_good = program_index_read(&file, source, &f->arena, index, &f->error);
    byte_source_close(source);
    return is_good;
}

static void a_text_is_one_program(void **state) {
    struct fixture *f = *state;
    struct xspace_index index;
    assert_true(index_text(f, BYTES("BufferAssignment:\n"), &index));
    assert_int_equal(index.program_count, 1);
    assert_true(bytes_equal(index.programs[0].name, BYTES("jit_f(3)")));
    assert_true(bytes_equal(index.programs[0].module_name, BYTES("jit_f")));
    assert_true(index.programs[0].has_program_id && index.programs[0].program_id == 3);
    assert_int_equal(index.programs[0].size_bytes, 18);
    assert_false(index_text(f, BYTES("garbage, not an assignment"), &index));
    assert_int_equal(f->error.code, ERROR_MALFORMED);
    assert_int_equal(index.program_count, 0);
    assert_false(index_text(f, BYTES(""), &index));
    assert_int_equal(f->error.code, ERROR_TRUNCATED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_every_back_end),
        cmocka_unit_test(other_stages_and_other_files),
        cmocka_unit_test_setup_teardown(a_session_for_each_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(proto_before_text_and_plain_before_gz, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_two_modules_have_one_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_recognised_before_stays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cut_module_does_not_hold_back_its_dump, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_text_is_a_session, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_lies_beside_a_module, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_stamp_follows_what_lies_beside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_text_is_one_program, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
