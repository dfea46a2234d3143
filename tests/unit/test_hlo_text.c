// analysis/hlo/hlo_text: the texts of a dump, as XLA writes them, become the columns that a proto would.
#include "analysis/hlo/hlo_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/hlo/shape.h"
#include "analysis/memory/buffer_description.h"
#include "analysis/memory/memory_totals.h"
#include "tests/unit/cmocka_all.h"

#define ASSIGNMENT                                                                                                     \
    "BufferAssignment:\n"                                                                                              \
    "allocation 0: size 1183744, page 0, parameter 3, shape |(f32[2050,129], s4[8])| at ShapeIndex {0}:\n"             \
    " value: <42 x.1 @0> (size=1183744,offset=0): f32[2050,129]{0,1:T(8,128)}\n"                                       \
    "allocation 1: size 512, page 0, output shape is |(f32[2050], f32[4])|, maybe-live-out:\n"                         \
    " value: <55 tuple.1{} @0> (size=512,offset=0): (f32[2050]{0:T(1024)}, f32[4]{0:T(128)})\n"                        \
    "allocation 2: size 64, color 6, page 0, constant:\n"                                                              \
    " value: <6 constant.7 @6> (size=64,offset=0): bf16[4,<=8]{1,0:T(8,128)(2,1)S(6)}\n"                               \
    "allocation 3: size 8, thread-local:\n"                                                                            \
    " value: <7 add.1> (size=8,offset=0): f64[]\n"                                                                     \
    "allocation 4: size 300, preallocated-temp:\n"                                                                     \
    " value: <8 sort.6{1} @0> (size=100,offset=0): s32[25]{0}\n"                                                       \
    " value: <9 while.1{0,2} (phi) @0> (size=100,offset=0): s32[25]{0}\n"                                              \
    " value: <10 fusion @0> (size=200,offset=100): s32[50]{0}\n"

struct fixture {
    struct arena arena;
    struct hlo_text texts;
    struct hlo_module module;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    arena_init(&fixture->arena, 0);
    fixture->texts.assignment = (struct hlo_text_file){"a.txt", BYTES(ASSIGNMENT)};
    *state = fixture;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *fixture = *state;
    arena_free(&fixture->arena);
    free(fixture);
    return 0;
}

static bool load(struct fixture *f) {
    return hlo_text_load(&f->texts, &f->arena, &f->module, &f->error);
}

static void must_load(struct fixture *f) {
    if (!load(f)) fail_msg("%s: %s", f->error.file, f->error.message);
}

static const struct hlo_buffer *buffer_of(struct fixture *f, int64_t id) {
    uint32_t buffer = hlo_buffer_of(&f->module, id);
    assert_int_not_equal(buffer, ID_MAP_NONE);
    return &f->module.buffers[buffer];
}

static struct buffer_description describe(struct fixture *f, int64_t id) {
    struct buffer_describer describer;
    assert_true(buffer_describer_init(&describer, &f->module, MEMORY_VIEW_EXACT, &f->arena));
    return buffer_describe(&describer, hlo_buffer_of(&f->module, id));
}

static void check_text(struct bytes found, const char *expected) {
    if (!bytes_equal(found, bytes_of(expected)))
        fail_msg("\"%.*s\", not \"%s\"", (int)found.size, (const char *)found.data, expected);
}

static void check_fault(struct fixture *f, enum error_code code, const char *file, int64_t offset, const char *words) {
    assert_false(load(f));
    assert_int_equal(f->error.code, code);
    assert_string_equal(f->error.file, file);
    assert_int_equal(f->error.offset, offset);
    if (!strstr(f->error.message, words)) fail_msg("\"%s\" lacks \"%s\"", f->error.message, words);
}

static void allocations_and_values(void **state) {
    struct fixture *f = *state;
    must_load(f);
    const struct hlo_allocation *a = f->module.allocations;
    assert_int_equal(f->module.allocation_count, 5);
    assert_int_equal(f->module.buffer_count, 7);
    assert_true(a[0].is_entry_parameter && a[0].parameter_number == 3 && a[0].size_bytes == 1183744);
    assert_true(!a[0].maybe_live_out && !a[0].is_constant && !a[0].is_tuple);
    assert_true(a[1].maybe_live_out && !a[1].is_entry_parameter && a[1].is_tuple);
    assert_true(a[2].is_constant && a[2].color == 6 && a[2].index == 2);
    assert_true(a[3].is_thread_local && a[3].color == 0);
    assert_int_equal(a[4].assigned_count, 3);
    const struct hlo_assigned *third = &f->module.assigned[a[4].first_assigned + 2];
    assert_true(third->offset == 100 && third->size_bytes == 200 && f->module.buffers[third->buffer].id == 10);
    assert_int_equal(buffer_of(f, 6)->color, 6);
}

static void values_without_a_program_keep_name_and_shape(void **state) {
    struct fixture *f = *state;
    must_load(f);
    check_text(describe(f, 42).name, "x.1");
    check_text(describe(f, 42).shape, "f32[2050,129]{0,1:T(8,128)}");
    check_text(describe(f, 55).name, "tuple.1");
    check_text(describe(f, 55).shape, "(f32[2050]{0:T(1024)}, f32[4]{0:T(128)})");
    check_text(describe(f, 6).shape, "bf16[4,<=8]{1,0:T(8,128)(2,1)S(6)}");
    check_text(describe(f, 7).shape, "f64[]");
    check_text(describe(f, 8).name, "sort.6{1}");
    check_text(describe(f, 9).name, "while.1{0,2}");
}

static void totals_are_sums_over_allocations(void **state) {
    struct fixture *f = *state;
    struct memory_totals_list list;
    must_load(f);
    assert_true(memory_totals_list(&f->module, &f->arena, &list, &f->error));
    struct memory_totals hbm = memory_totals_of(&list, 0);
    assert_int_equal(hbm.total_bytes, 1183744 + 512 + 300);
    assert_int_equal(hbm.bytes[ALLOCATION_THREAD_LOCAL], 8);
    assert_int_equal(memory_totals_of(&list, 6).total_bytes, 64);
}

#define PROGRAM                                                                                                        \
    "HloModule jit_f, is_scheduled=true\n\n"                                                                           \
    "FileNames\n1 \"/home/u/a \\\"b\\\".py\"\n\n"                                                                      \
    "FunctionNames\n1 \"f\"\n2 \"g\"\n\n"                                                                              \
    "FileLocations\n1 {file_name_id=1 function_name_id=1 line=7 end_line=7 column=3 end_column=9}\n"                   \
    "2 {file_name_id=1 function_name_id=2 line=9 end_line=9 column=1 end_column=2}\n\n"                                \
    "StackFrames\n1 {file_location_id=2 parent_frame_id=1}\n2 {file_location_id=1 parent_frame_id=2}\n\n\n"            \
    "%add.clone (p: f32[], q: f32[]) -> f32[] {\n"                                                                     \
    "  %p = f32[] parameter(0)\n"                                                                                      \
    "  ROOT %add.1 = f32[] add(%p, %p), backend_config={\"a\":{\"b\":[\"}\"]}}\n"                                      \
    "}\n\n"                                                                                                            \
    "ENTRY %main.4 (x.1: f32[8]) -> f32[8] {\n"                                                                        \
    "  %x.1 = f32[2050,129]{0,1:T(8,128)} parameter(3), sharding={devices=[2,1]<=[2]}, metadata={op_name=\"x\"}\n"     \
    "  %sort.6 = (f32[25]{0}, /*index=1*/s32[25]{0}) sort(%x.1), dimensions={0}, to_apply=%add.clone, "                \
    "metadata={op_name=\"jit(f)/sort[a=\\\"(\\\"]\" stack_frame_id=2}\n"                                               \
    "  ROOT %fusion = s32[50]{0} fusion(%sort.6), kind=kLoop, metadata={op_name=\"y\" source_file=\"s.py\" "           \
    "source_line=12}\n"                                                                                                \
    "}\n"

static void the_program_names_operations_and_sources(void **state) {
    struct fixture *f = *state;
    f->texts.program = (struct hlo_text_file){"p.txt", BYTES(PROGRAM)};
    must_load(f);
    check_text(f->module.name, "jit_f");
    check_text(f->module.entry_computation_name, "main.4");
    struct buffer_description sort = describe(f, 8), fusion = describe(f, 10);
    check_text(sort.name, "sort.6{1}");
    check_text(sort.opcode, "sort");
    check_text(sort.op_name, "jit(f)/sort[a=\"(\"]");
    check_text(sort.shape, "s32[25]{0}");
    check_text(sort.source_file, "/home/u/a \"b\".py");
    assert_int_equal(sort.source_line, 7);
    check_text(fusion.source_file, "s.py");
    assert_int_equal(fusion.source_line, 12);
    assert_int_equal(f->module.stack_frames[1].parent, 1);
    assert_int_equal(f->module.stack_frames[0].parent, 0);
    const struct hlo_buffer *add = buffer_of(f, 7);
    check_text(hlo_instruction_backend_config(&f->module, add->instruction), "{\"a\":{\"b\":[\"}\"]}}");
}

static void values_stand_in_for_a_missing_program(void **state) {
    struct fixture *f = *state;
    f->texts.values = (struct hlo_text_file){
        "v.txt", BYTES("Used values:\n<10 fusion @0>\n positions:\n  fusion\n"
                       " from instruction: %fusion = s32[50]{0} fusion(%x), metadata={op_name=\"y\"}\n")};
    must_load(f);
    check_text(describe(f, 10).opcode, "fusion");
    check_text(describe(f, 10).op_name, "y");
    check_text(describe(f, 42).opcode, "");
}

static void older_assignments_end_with_their_values(void **state) {
    struct fixture *f = *state;
    f->texts.assignment.text = BYTES(ASSIGNMENT "\nTotal bytes used: 5 (5B)\n\nUsed values:\n<10 fusion @0>\n"
                                                " from instruction: %fusion = s32[50]{0} fusion(%x)\n");
    must_load(f);
    assert_int_equal(f->module.allocation_count, 5);
    check_text(describe(f, 10).opcode, "fusion");
}

#define LIVE_RANGE                                                                                                     \
    "HloLiveRange (max 3):\n  InstructionSequence:\n    0:x.1\n    1:sort.6\n    2:while.1\n    3:fusion\n"            \
    "  BufferLiveRange:\n    x.1{}:0-4\n    sort.6{1}:1-2\n    while.1{0,2}:2-3\n    fusion{}:3-4\n    other{}:0-1\n"  \
    "  Live ranges at 1 (peak):\n    garbage that is not read\n"

// Only temporaries are simulated; the loop's state takes over the place of what it was made from.
static void live_ranges_become_a_simulation(void **state) {
    static const struct {
        enum hlo_event_kind kind;
        int64_t id;
        const char *instruction;
    } expected[] = {
        {HLO_EVENT_ALLOC, 8, "sort.6"},  {HLO_EVENT_SHARE_WITH, 9, "while.1"}, {HLO_EVENT_FREE, 8, "while.1"},
        {HLO_EVENT_ALLOC, 10, "fusion"}, {HLO_EVENT_FREE, 9, "fusion"},        {HLO_EVENT_FREE, 10, "fusion"},
    };
    struct fixture *f = *state;
    f->texts.live_range = (struct hlo_text_file){"l.txt", BYTES(LIVE_RANGE)};
    must_load(f);
    assert_int_equal(f->module.trace_count, 1);
    assert_int_equal(f->module.event_count, sizeof expected / sizeof *expected);
    for (uint32_t i = 0; i < f->module.event_count; i++) {
        assert_int_equal(f->module.events[i].kind, expected[i].kind);
        assert_int_equal(f->module.events[i].buffer_id, expected[i].id);
        check_text(f->module.events[i].instruction_name, expected[i].instruction);
    }
    assert_int_equal(f->module.buffers[f->module.events[1].canonical].id, 8);
}

static void faults_tell_file_line_and_offset(void **state) {
    struct fixture *f = *state;
    f->texts.assignment.text = BYTES("");
    check_fault(f, ERROR_TRUNCATED, "a.txt", 0, "line 1");
    f->texts.assignment.text = BYTES("garbage\n");
    check_fault(f, ERROR_MALFORMED, "a.txt", 0, "line 1: expected \"BufferAssignment:\"");
    f->texts.assignment.text = BYTES("BufferAssignment:\nallocation 0: size 4:\nmore\n");
    check_fault(f, ERROR_MALFORMED, "a.txt", 40, "line 3");
    f->texts.assignment.text = BYTES("BufferAssignment:\nallocation 0: size 4x:\n value: <1 a @0> (size=4\n");
    check_fault(f, ERROR_MALFORMED, "a.txt", 41, "line 3");
    f->texts.assignment.text = BYTES("BufferAssignment:\n value: <1 a @0> (size=4,offset=0): f32[]\n");
    check_fault(f, ERROR_MALFORMED, "a.txt", 18, "of an allocation");
    f->texts.assignment.text = BYTES("BufferAssignment:\nallocation 0: size -4:\n");
    check_fault(f, ERROR_MALFORMED, "a.txt", 18, "line 2");
    f->texts.assignment.text = BYTES("BufferAssignment:\nallocation 0: size 99999999999999999999:\n");
    check_fault(f, ERROR_MALFORMED, "a.txt", 18, "line 2");
}

static void faults_of_the_other_texts(void **state) {
    struct fixture *f = *state;
    f->texts.program = (struct hlo_text_file){"p.txt", BYTES("\n\nModule jit_f\n")};
    check_fault(f, ERROR_MALFORMED, "p.txt", 2, "line 3: expected \"HloModule");
    f->texts.program = (struct hlo_text_file){0};
    f->texts.live_range = (struct hlo_text_file){"l.txt",
                                                 BYTES("HloLiveRange (max 1):\n  InstructionSequence:\n    7:a\n")};
    check_fault(f, ERROR_MALFORMED, "l.txt", 45, "line 3: expected the next time");
    f->texts.live_range.text = BYTES("HloLiveRange (max 1):\n  BufferLiveRange:\n    a{}:7-3\n");
    check_fault(f, ERROR_MALFORMED, "l.txt", 41, "line 3");
    f->texts.live_range.text = BYTES("HloLive");
    check_fault(f, ERROR_TRUNCATED, "l.txt", 0, "line 1: the text ends here");
}

// Every prefix of the text ends in a result or in an error inside it; a cut line is never taken for a whole one.
static void every_prefix_is_a_result_or_an_error(void **state) {
    struct fixture *f = *state;
    struct bytes whole = f->texts.assignment.text;
    for (size_t size = 0; size < whole.size; size++) {
        f->texts.assignment.text.size = size;
        bool is_whole_lines = size && whole.data[size - 1] == '\n';
        if (load(f)) assert_true(is_whole_lines);
        if (is_whole_lines) continue;
        assert_int_equal(f->error.code, ERROR_TRUNCATED);
        assert_true(f->error.offset >= 0 && (size_t)f->error.offset <= size);
    }
}

// Brackets that never close, nested without end: linear time, no deep recursion.
static void hostile_shapes_and_lines(void **state) {
    enum { LONG = 1 << 20 };
    static const char head[] = "BufferAssignment:\nallocation 0: size 4:\n value: <1 a @0> (size=4,offset=0): ";
    struct fixture *f = *state;
    static const char *const pieces[] = {"(", "((f32[1]),", "\"\\", "{1:T(", "f32[1]{0:", "/*", "|,"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char *text = arena_push(&f->arena, LONG + sizeof head + 16, 1);
        size_t size = sizeof head - 1, piece = strlen(pieces[i]);
        memcpy(text, head, size);
        for (; size + piece < LONG; size += piece) memcpy(text + size, pieces[i], piece);
        text[size++] = '\n';
        f->texts.assignment.text = (struct bytes){(const uint8_t *)text, size};
        must_load(f);
        assert_int_equal(f->module.buffer_count, 1);
        (void)describe(f, 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(allocations_and_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_without_a_program_keep_name_and_shape, set_up, tear_down),
        cmocka_unit_test_setup_teardown(totals_are_sums_over_allocations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_program_names_operations_and_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(values_stand_in_for_a_missing_program, set_up, tear_down),
        cmocka_unit_test_setup_teardown(older_assignments_end_with_their_values, set_up, tear_down),
        cmocka_unit_test_setup_teardown(live_ranges_become_a_simulation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_tell_file_line_and_offset, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_of_the_other_texts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_prefix_is_a_result_or_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(hostile_shapes_and_lines, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
