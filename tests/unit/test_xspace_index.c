// analysis/input/xspace_index: what an XSpace holds, whatever the order of its fields and wherever it is cut.
#include "analysis/input/local_storage.h"
#include "analysis/input/xspace_read.h"

#include <stdio.h>
#include <unistd.h>

#include "tests/unit/cmocka_all.h"
#include "tests/unit/gzip_bytes.h"
#include "tests/unit/temp_folder.h"
#include "tests/unit/xspace_build.h"

enum { HLO_STAT = 1, PROGRAM_ID_STAT = 2, OTHER_STAT = 3, SOME_HLO_BYTES = 100 };

struct fixture {
    struct arena arena;
    struct xspace_index index;
    struct error error;
    bool ok;
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
    free(fixture);
    return 0;
}

static void read_content(struct fixture *f, struct bytes content) {
    struct byte_source *source = byte_source_of_memory(content, "x.xplane.pb", &f->error);
    assert_non_null(source);
    f->ok = xspace_index_read(source, &f->arena, &f->index, &f->error);
    byte_source_close(source);
}

// Takes the message.
static void read_built(struct fixture *f, struct wire_build *space) {
    read_content(f, wire_build_view(space));
    wire_build_free(space);
}

static void read_whole(struct fixture *f, struct wire_build *space) {
    read_built(f, space);
    if (!f->ok) fail_msg("%s at %d: %s", f->error.file, (int)f->error.offset, f->error.message);
}

static void check_program(const struct fixture *f, size_t i, const char *name, const char *module, uint64_t id) {
    assert_true(i < f->index.program_count);
    const struct xspace_program *program = &f->index.programs[i];
    if (!bytes_equal(program->name, bytes_of(name)))
        fail_msg("program %zu is %.*s, not %s", i, (int)program->name.size, (const char *)program->name.data, name);
    assert_true(bytes_equal(program->module_name, bytes_of(module)));
    assert_true(program->has_program_id && (uint64_t)program->program_id == id);
}

static void add_some_program(struct wire_build *plane, uint64_t id, const char *name) {
    struct wire_build hlo = xspace_build_hlo("jit_f", SOME_HLO_BYTES);
    xspace_build_program(plane, id, name, HLO_STAT, wire_build_view(&hlo));
    wire_build_free(&hlo);
}

static void begin_metadata_plane(struct wire_build *plane) {
    wire_build_varint(plane, XPLANE_ID, 9);
    wire_build_text(plane, XPLANE_NAME, "/host:metadata");
}

static void add_other_plane(struct wire_build *space, const char *name, size_t line_bytes) {
    struct wire_build plane = {0};
    uint8_t *zeros = calloc(1, line_bytes);
    wire_build_text(&plane, XPLANE_NAME, name);
    wire_build_bytes(&plane, XPLANE_LINES, (struct bytes){zeros, line_bytes});
    wire_build_message(space, XSPACE_PLANES, &plane);
    free(zeros);
}

static void an_empty_file_is_an_empty_space(void **state) {
    struct fixture *f = *state;
    read_content(f, (struct bytes){0});
    assert_true(f->ok);
    assert_int_equal(f->index.plane_count + f->index.program_count + f->index.warning_count, 0);
}

static void finds_planes_and_programs(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0}, hlo = xspace_build_hlo("jit_train_step", 300000);
    add_other_plane(&space, "/host:CPU", 100000);
    begin_metadata_plane(&plane);
    xspace_build_program(&plane, 36, "jit_train_step(36)", HLO_STAT, wire_build_view(&hlo));
    add_some_program(&plane, 7, "jit_f(7)");
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    wire_build_message(&space, XSPACE_PLANES, &plane);
    add_other_plane(&space, "/device:TPU:0", 5);
    wire_build_text(&space, XSPACE_HOSTNAMES, "vm");
    read_content(f, wire_build_view(&space));
    assert_true(f->ok);
    assert_int_equal(f->index.plane_count, 3);
    assert_true(bytes_equal(f->index.planes[0].name, BYTES("/host:CPU")));
    assert_true(bytes_equal(f->index.planes[2].name, BYTES("/device:TPU:0")));
    assert_int_equal(f->index.program_count, 2);
    check_program(f, 0, "jit_train_step(36)", "jit_train_step", 36);
    check_program(f, 1, "jit_f(7)", "jit_f", 7);
    assert_int_equal(f->index.programs[0].size_bytes, hlo.size);
    assert_memory_equal(space.data + f->index.programs[0].offset, hlo.data, hlo.size);
    wire_build_free(&hlo);
    wire_build_free(&space);
}

static void a_gz_gives_the_same(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0};
    add_other_plane(&space, "/host:CPU", 3 << 20);
    begin_metadata_plane(&plane);
    add_some_program(&plane, 1, "jit_f(1)");
    add_some_program(&plane, 2, "jit_f(2)");
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    wire_build_message(&space, XSPACE_PLANES, &plane);
    read_content(f, wire_build_view(&space));
    struct xspace_index plain = f->index;
    struct bytes compressed = gzip_bytes(wire_build_view(&space));
    read_content(f, compressed);
    assert_true(f->ok);
    assert_int_equal(f->index.program_count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_true(bytes_equal(f->index.programs[i].name, plain.programs[i].name));
        assert_int_equal(f->index.programs[i].offset, plain.programs[i].offset);
    }
    gzip_bytes_free(compressed);
    wire_build_free(&space);
}

// A plane of 5 GiB (a hole) is stepped over; offsets behind it are past 32 bits.
static void a_file_over_4_gib(void **state) {
    struct fixture *f = *state;
    struct temp_folder folder;
    struct wire_build space = {0}, plane = {0};
    uint64_t large = (uint64_t)5 << 30;
    wire_build_key(&space, XSPACE_PLANES, WIRE_LEN);
    wire_build_bare_varint(&space, large);
    wire_build_text(&space, XPLANE_NAME, "/host:CPU");
    wire_build_key(&space, XPLANE_LINES, WIRE_LEN);  // the rest of the plane: 11 bytes for the name, 6 for this header
    wire_build_bare_varint(&space, large - 17);
    uint64_t hole = large - 17, second = space.size + hole;
    temp_folder_make(&folder);
    temp_folder_write(&folder, "large.xplane.pb", wire_build_view(&space));
    begin_metadata_plane(&plane);
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    add_some_program(&plane, 1, "jit_f(1)");
    wire_build_free(&space);
    wire_build_message(&space, XSPACE_PLANES, &plane);
    struct temp_path path = temp_folder_path(&folder, "large.xplane.pb");
    if (truncate(path.text, (off_t)second) == 0) {
        FILE *file = fopen(path.text, "ab");
        assert_int_equal(fwrite(space.data, 1, space.size, file), space.size);
        assert_int_equal(fclose(file), 0);
        struct byte_source *source = byte_source_open(local_storage(), path.text, &f->error);
        assert_true(xspace_index_read(source, &f->arena, &f->index, &f->error));
        check_program(f, 0, "jit_f(1)", "jit_f", 1);
        assert_true(f->index.planes[0].size_bytes == large && f->index.programs[0].offset > second);
        byte_source_close(source);
    }
    wire_build_free(&space);
    temp_folder_remove(&folder);
}

static void any_order_of_fields(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0}, event = {0}, stat = {0}, entry = {0};
    // The value of the stat before its id, the stats before the name, the value before the key; names after all.
    wire_build_bytes(&plane, XPLANE_LINES, BYTES("\x08\x01"));
    wire_build_bytes(&stat, XSTAT_BYTES_VALUE, BYTES("\x0a\x00"));
    wire_build_varint(&stat, XSTAT_METADATA_ID, HLO_STAT);
    wire_build_message(&event, XEVENT_METADATA_STATS, &stat);
    wire_build_text(&event, XEVENT_METADATA_NAME, "jit_f(5)");
    wire_build_varint(&event, XEVENT_METADATA_ENTRY_ID, 5);
    wire_build_message(&entry, MAP_ENTRY_VALUE, &event);
    wire_build_varint(&entry, MAP_ENTRY_KEY, 5);
    wire_build_message(&plane, XPLANE_EVENT_METADATA, &entry);
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    wire_build_text(&plane, XPLANE_NAME, "/host:metadata");
    wire_build_message(&space, XSPACE_PLANES, &plane);
    read_whole(f, &space);
    assert_int_equal(f->index.program_count, 1);
    check_program(f, 0, "jit_f(5)", "jit_f", 5);
    assert_int_equal(f->index.programs[0].size_bytes, 2);
}

static void every_name_of_the_hlo_stat(void **state) {
    struct fixture *f = *state;
    const char *const names[] = {"Hlo Proto", "HLO Proto", "hlo_proto"};
    for (size_t i = 0; i < 3; i++) {
        struct wire_build space = {0}, plane = {0};
        begin_metadata_plane(&plane);
        xspace_build_stat_name(&plane, HLO_STAT, names[i]);
        add_some_program(&plane, 5, "jit_f(5)");
        wire_build_message(&space, XSPACE_PLANES, &plane);
        read_whole(f, &space);
        assert_int_equal(f->index.program_count, 1);
    }
}

// The stat `program_id`, else the number in the name, else the id: as XProf finds it.
static void where_the_program_id_comes_from(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0}, event = {0};
    begin_metadata_plane(&plane);
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    xspace_build_stat_name(&plane, PROGRAM_ID_STAT, "program_id");
    wire_build_varint(&event, XEVENT_METADATA_ENTRY_ID, 5);
    wire_build_text(&event, XEVENT_METADATA_NAME, "jit_a(6)");
    xspace_build_stat_number(&event, PROGRAM_ID_STAT, 7);
    xspace_build_stat_bytes(&event, HLO_STAT, BYTES("\x0a\x00"));
    xspace_build_event_entry(&plane, 5, &event);
    add_some_program(&plane, 8, "jit_b(17956046881034532841)");
    add_some_program(&plane, 9, "jit_c");
    add_some_program(&plane, 10, "jit_d(x)");
    add_some_program(&plane, 11, "jit_e(99999999999999999999)");
    add_some_program(&plane, 12, "");
    wire_build_message(&space, XSPACE_PLANES, &plane);
    read_whole(f, &space);
    assert_int_equal(f->index.program_count, 6);
    check_program(f, 0, "jit_a(7)", "jit_a", 7);
    check_program(f, 1, "jit_b(17956046881034532841)", "jit_b", 17956046881034532841u);
    check_program(f, 2, "jit_c(9)", "jit_c", 9);
    check_program(f, 3, "jit_d(x)(10)", "jit_d(x)", 10);
    check_program(f, 4, "jit_e(99999999999999999999)(11)", "jit_e(99999999999999999999)", 11);
    check_program(f, 5, "jit_f(12)", "jit_f", 12);  // the name of the module inside
}

static void keys_may_be_missing(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0}, event = {0}, entry = {0}, value = {0};
    begin_metadata_plane(&plane);
    wire_build_text(&value, XSTAT_METADATA_NAME, "Hlo Proto");  // stat metadata 0, without key and id
    wire_build_message(&entry, MAP_ENTRY_VALUE, &value);
    wire_build_message(&plane, XPLANE_STAT_METADATA, &entry);
    wire_build_text(&event, XEVENT_METADATA_NAME, "jit_f");
    xspace_build_stat_bytes(&event, 0, BYTES("\x0a\x00"));
    wire_build_message(&entry, MAP_ENTRY_VALUE, &event);
    wire_build_message(&plane, XPLANE_EVENT_METADATA, &entry);
    wire_build_varint(&entry, MAP_ENTRY_KEY, 4);  // and one without a value
    wire_build_message(&plane, XPLANE_EVENT_METADATA, &entry);
    wire_build_bytes(&plane, XPLANE_EVENT_METADATA, (struct bytes){0});
    wire_build_message(&space, XSPACE_PLANES, &plane);
    read_whole(f, &space);
    assert_int_equal(f->index.program_count, 1);
    check_program(f, 0, "jit_f(0)", "jit_f", 0);
}

static void stats_of_other_kinds_are_no_programs(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0}, event = {0}, stat = {0};
    begin_metadata_plane(&plane);
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    xspace_build_stat_name(&plane, PROGRAM_ID_STAT, "program_id");
    xspace_build_stat_name(&plane, OTHER_STAT,
                           "Something with a name that is longer than what a peek can show, by far");
    wire_build_varint(&stat, XSTAT_METADATA_ID, HLO_STAT);
    wire_build_text(&stat, XSTAT_STR_VALUE, "not bytes");
    wire_build_message(&event, XEVENT_METADATA_STATS, &stat);
    wire_build_varint(&stat, XSTAT_METADATA_ID, HLO_STAT);
    wire_build_varint(&stat, XSTAT_REF_VALUE, 1);
    wire_build_message(&event, XEVENT_METADATA_STATS, &stat);
    wire_build_varint(&stat, XSTAT_METADATA_ID, PROGRAM_ID_STAT);
    wire_build_double(&stat, XSTAT_DOUBLE_VALUE, 1.5);
    wire_build_message(&event, XEVENT_METADATA_STATS, &stat);
    xspace_build_stat_bytes(&event, OTHER_STAT, BYTES("\x0a\x00"));
    wire_build_text(&event, XEVENT_METADATA_NAME, "jit_f(1)");
    xspace_build_event_entry(&plane, 1, &event);
    wire_build_message(&space, XSPACE_PLANES, &plane);
    read_whole(f, &space);
    assert_int_equal(f->index.program_count, 0);
}

static void only_the_metadata_plane_counts(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0};
    wire_build_text(&plane, XPLANE_NAME, "/host:metadata2");
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    add_some_program(&plane, 1, "jit_f(1)");
    wire_build_message(&space, XSPACE_PLANES, &plane);
    wire_build_bytes(&space, XSPACE_PLANES, (struct bytes){0});  // a plane without a name
    read_whole(f, &space);
    assert_int_equal(f->index.program_count, 0);
    assert_int_equal(f->index.plane_count, 2);
    assert_int_equal(f->index.planes[1].name.size, 0);
}

static void the_first_of_equal_names_wins(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0};
    for (int i = 0; i < 2; i++) {  // also over two planes
        struct wire_build plane = {0};
        begin_metadata_plane(&plane);
        xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
        add_some_program(&plane, 1, "jit_z(1)");
        add_some_program(&plane, 2, "jit_a(2)");
        add_some_program(&plane, 1, "jit_z");
        wire_build_message(&space, XSPACE_PLANES, &plane);
    }
    read_whole(f, &space);
    assert_int_equal(f->index.program_count, 2);
    assert_int_equal(f->index.duplicate_count, 4);
    check_program(f, 0, "jit_z(1)", "jit_z", 1);
    check_program(f, 1, "jit_a(2)", "jit_a", 2);
    assert_true(f->index.programs[0].offset < f->index.programs[1].offset);
}

static void the_profilers_own_warnings(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0};
    char *much = malloc(XSPACE_MAX_NAME_BYTES + 11);
    memset(much, 'x', XSPACE_MAX_NAME_BYTES + 10);
    much[XSPACE_MAX_NAME_BYTES + 10] = '\0';
    wire_build_text(&space, XSPACE_ERRORS, "buffer full");
    wire_build_text(&space, XSPACE_WARNINGS, much);
    for (int i = 2; i < XSPACE_MAX_WARNINGS + 5; i++) wire_build_text(&space, XSPACE_WARNINGS, "dropped");
    read_whole(f, &space);
    assert_int_equal(f->index.warning_count, XSPACE_MAX_WARNINGS);
    assert_int_equal(f->index.warnings_left_out, 5);
    assert_true(bytes_equal(f->index.warnings[0], BYTES("buffer full")));
    assert_true(bytes_ends_with(f->index.warnings[1], BYTES("x ... (10 more bytes)")));
    free(much);
}

// Cut at every byte: the programs whose entries are whole are found, and it is said unless the cut is between fields.
static void cut_anywhere_nothing_whole_is_lost(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0};
    size_t entry_ends[3];
    add_other_plane(&space, "/host:CPU", 20);
    size_t before_plane = space.size;
    begin_metadata_plane(&plane);
    for (size_t i = 0; i < 3; i++) {
        struct wire_build hlo = xspace_build_hlo("jit_f", 10 + i);
        const char *const names[] = {"jit_f(0)", "jit_f(1)", "jit_f(2)"};
        xspace_build_program(&plane, i, names[i], HLO_STAT, wire_build_view(&hlo));
        wire_build_free(&hlo);
        entry_ends[i] = plane.size;
    }
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    size_t plane_size = plane.size;
    wire_build_message(&space, XSPACE_PLANES, &plane);
    size_t plane_start = space.size - plane_size;
    size_t after_plane = space.size;
    wire_build_text(&space, XSPACE_HOSTNAMES, "vm");
    for (size_t size = 0; size <= space.size; size++) {
        struct bytes content = {space.data, size};
        bool whole = size == 0 || size == before_plane || size == after_plane || size == space.size;
        size_t expected = 0;
        for (size_t i = 0; i < 3; i++) expected += size >= plane_start + entry_ends[i];
        read_content(f, content);
        assert_int_equal(f->ok, whole);
        assert_int_equal(f->index.program_count, expected);
        for (size_t i = 0; i < expected; i++) {
            const struct xspace_program *program = &f->index.programs[i];
            assert_true(program->offset + program->size_bytes <= plane_start + entry_ends[i]);
            assert_int_equal(program->program_id, i);
        }
        if (!whole) {
            assert_int_equal(f->error.code, ERROR_TRUNCATED);
            assert_string_equal(f->error.file, "x.xplane.pb");
            assert_in_range(f->error.offset, 0, size);
        }
    }
    wire_build_free(&space);
}

// A plane that is not needed is stepped over, but its end must be there.
static void a_cut_plane_that_is_not_needed_is_said_too(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0};
    add_other_plane(&space, "/device:TPU:0", 1000);
    read_content(f, (struct bytes){space.data, space.size - 1});
    assert_false(f->ok);
    assert_int_equal(f->error.code, ERROR_TRUNCATED);
    assert_int_equal(f->error.offset, 0);
    assert_int_equal(f->index.plane_count, 1);
    assert_int_equal(f->index.planes[0].offset + f->index.planes[0].size_bytes, space.size - 1);
    wire_build_free(&space);
}

static void a_cut_gz_keeps_what_is_whole(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0};
    uint8_t noise[20000];
    uint32_t random = 1;
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (uint8_t)((random = random * 1664525 + 1013904223) >> 24);
    begin_metadata_plane(&plane);
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    add_some_program(&plane, 1, "jit_f(1)");
    wire_build_message(&space, XSPACE_PLANES, &plane);
    wire_build_bytes(&space, XSPACE_PLANES, (struct bytes){noise, sizeof noise});
    struct bytes compressed = gzip_bytes(wire_build_view(&space));
    read_content(f, (struct bytes){compressed.data, compressed.size / 2});
    assert_false(f->ok);
    assert_int_equal(f->error.code, ERROR_TRUNCATED);
    assert_int_equal(f->index.program_count, 1);
    gzip_bytes_free(compressed);
    wire_build_free(&space);
}

static void one_bad_plane_does_not_hide_the_others(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0};
    wire_build_bytes(&space, XSPACE_PLANES, BYTES("\x0f\x0f"));  // wrong before its name
    begin_metadata_plane(&plane);
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    wire_build_bytes(&plane, XPLANE_EVENT_METADATA, BYTES("\x12\x7f"));  // one bad entry
    add_some_program(&plane, 1, "jit_f(1)");
    wire_build_message(&space, XSPACE_PLANES, &plane);
    read_built(f, &space);
    assert_false(f->ok);
    assert_int_equal(f->error.code, ERROR_MALFORMED);
    assert_int_equal(f->error.offset, 2);
    assert_int_equal(f->index.plane_count, 1);
    assert_int_equal(f->index.program_count, 1);
}

static void text_is_no_xspace(void **state) {
    struct fixture *f = *state;
    read_content(f, BYTES("{\"this\": \"is json, not a profile\"}"));
    assert_false(f->ok);
    assert_int_equal(f->error.code, ERROR_MALFORMED);
}

static void limits_are_errors(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0};
    char *name = malloc(XSPACE_MAX_NAME_BYTES + 2);
    memset(name, 'n', XSPACE_MAX_NAME_BYTES + 1);
    name[XSPACE_MAX_NAME_BYTES + 1] = '\0';
    wire_build_text(&plane, XPLANE_NAME, name);
    wire_build_message(&space, XSPACE_PLANES, &plane);
    read_built(f, &space);
    assert_false(f->ok);
    assert_int_equal(f->error.code, ERROR_TOO_BIG);
    free(name);
    for (int i = 0; i <= XSPACE_MAX_PLANES; i++) wire_build_bytes(&space, XSPACE_PLANES, (struct bytes){0});
    read_built(f, &space);
    assert_false(f->ok);
    assert_int_equal(f->error.code, ERROR_TOO_BIG);
    assert_int_equal(f->index.plane_count, XSPACE_MAX_PLANES);
    struct arena small;
    arena_init(&small, 100);
    add_other_plane(&space, "/host:CPU", 1);
    struct byte_source *source = byte_source_of_memory(wire_build_view(&space), "x", &f->error);
    assert_false(xspace_index_read(source, &small, &f->index, &f->error));
    assert_int_equal(f->error.code, ERROR_TOO_BIG);
    byte_source_close(source);
    arena_free(&small);
    wire_build_free(&space);
}

static void names_may_hold_any_bytes(void **state) {
    struct fixture *f = *state;
    struct wire_build space = {0}, plane = {0}, event = {0};
    begin_metadata_plane(&plane);
    xspace_build_stat_name(&plane, HLO_STAT, "Hlo Proto");
    wire_build_bytes(&event, XEVENT_METADATA_NAME, BYTES("a\0b\xff"));
    xspace_build_stat_bytes(&event, HLO_STAT, (struct bytes){0});
    xspace_build_event_entry(&plane, 1, &event);
    wire_build_message(&space, XSPACE_PLANES, &plane);
    read_whole(f, &space);
    assert_int_equal(f->index.program_count, 1);
    assert_true(bytes_equal(f->index.programs[0].name, BYTES("a\0b\xff(1)")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_empty_file_is_an_empty_space),
        TEST(finds_planes_and_programs),
        TEST(a_gz_gives_the_same),
        TEST(a_file_over_4_gib),
        TEST(any_order_of_fields),
        TEST(every_name_of_the_hlo_stat),
        TEST(where_the_program_id_comes_from),
        TEST(keys_may_be_missing),
        TEST(stats_of_other_kinds_are_no_programs),
        TEST(only_the_metadata_plane_counts),
        TEST(the_first_of_equal_names_wins),
        TEST(the_profilers_own_warnings),
        TEST(cut_anywhere_nothing_whole_is_lost),
        TEST(a_cut_plane_that_is_not_needed_is_said_too),
        TEST(a_cut_gz_keeps_what_is_whole),
        TEST(one_bad_plane_does_not_hide_the_others),
        TEST(text_is_no_xspace),
        TEST(limits_are_errors),
        TEST(names_may_hold_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
