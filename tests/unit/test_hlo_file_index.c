// analysis/input/hlo_file_index: a file that is one HloProto, and what its program is called.
#include "analysis/input/xspace_read.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/xspace_build.h"

struct fixture {
    struct arena arena;
    struct wire_build hlo;
    struct xspace_index index;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    arena_init(&fixture->arena, 0);
    fixture->hlo = xspace_build_hlo("jit_inside", 1000);
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    arena_free(&fixture->arena);
    wire_build_free(&fixture->hlo);
    free(fixture);
    return 0;
}

static bool read_file(struct fixture *f, const char *path, struct bytes content) {
    struct byte_source *source = byte_source_of_memory(content, path, &f->error);
    bool ok = xspace_index_hlo_file(source, &f->arena, &f->index, &f->error);
    byte_source_close(source);
    return ok;
}

static void check_program(struct fixture *f, const char *name, const char *module, size_t size) {
    assert_int_equal(f->index.program_count, 1);
    const struct xspace_program *program = &f->index.programs[0];
    assert_true(bytes_equal(program->name, bytes_of(name)));
    assert_true(bytes_equal(program->module_name, bytes_of(module)));
    assert_int_equal(program->offset, 0);
    assert_int_equal(program->size_bytes, size);
}

static void xprofs_cache_names_tell_the_program(void **state) {
    struct fixture *f = *state;
    assert_true(read_file(f, "/logs/s1/jit_f(36).hlo_proto.pb", wire_build_view(&f->hlo)));
    check_program(f, "jit_f(36)", "jit_inside", f->hlo.size);
    assert_true(f->index.programs[0].has_program_id && f->index.programs[0].program_id == 36);
}

static void other_names_leave_it_to_the_module_inside(void **state) {
    struct fixture *f = *state;
    struct bytes compressed = gzip_bytes(wire_build_view(&f->hlo));
    assert_true(read_file(f, "module_0001.jit_x.after_optimizations.hlo.pb.gz", compressed));
    check_program(f, "jit_inside", "jit_inside", f->hlo.size);
    assert_false(f->index.programs[0].has_program_id);
    assert_int_equal(f->index.programs[0].program_id, -1);
    gzip_bytes_free(compressed);
}

static void a_module_without_a_name_is_called_as_the_file(void **state) {
    struct fixture *f = *state;
    assert_true(read_file(f, "dump.hlo.pb", BYTES("\x0a\x00")));
    check_program(f, "dump", "dump", 2);
}

static void a_cut_file_is_truncated(void **state) {
    struct fixture *f = *state;
    const size_t sizes[] = {1, 5, f->hlo.size - 1000, f->hlo.size - 1};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_false(read_file(f, "x.hlo.pb", (struct bytes){f->hlo.data, sizes[i]}));
        assert_int_equal(f->error.code, ERROR_TRUNCATED);
        assert_string_equal(f->error.file, "x.hlo.pb");
        assert_int_equal(f->index.program_count, 0);
    }
}

static void what_is_no_hlo_proto_is_said(void **state) {
    struct fixture *f = *state;
    assert_false(read_file(f, "x.hlo.pb", (struct bytes){0}));
    assert_int_equal(f->error.code, ERROR_MALFORMED);
    assert_string_equal(f->error.file, "x.hlo.pb");
    assert_false(read_file(f, "x.hlo.pb", BYTES("HloModule jit_f, is_scheduled=true")));
    assert_int_equal(f->error.code, ERROR_MALFORMED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(xprofs_cache_names_tell_the_program),
        TEST(other_names_leave_it_to_the_module_inside),
        TEST(a_module_without_a_name_is_called_as_the_file),
        TEST(a_cut_file_is_truncated),
        TEST(what_is_no_hlo_proto_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
