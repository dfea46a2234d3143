#include "analysis/memory/memory_view.h"

#include "analysis/memory/buffer_description.h"
#include "analysis/memory/memory_summary.h"
#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

struct fixture {
    struct hlo_build build;
    struct arena arena;
    struct hlo_module module;
    struct memory_view view;
    struct error error;
};

static bool view_of(struct fixture *f, int64_t space, enum memory_view_scope scope) {
    arena_init(&f->arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&f->build), &f->arena, &f->module, &f->error));
    return memory_view_build(&f->module, space, scope, &f->arena, &f->view, &f->error);
}

static void done(struct fixture *f) {
    arena_free(&f->arena);
    hlo_build_free(&f->build);
}

// A parameter of 1024 bytes (unpadded 400), and two temporaries of 512 and 256 in one allocation of 1024.
static void build_one(struct hlo_build *b) {
    hlo_build_instruction(b, 1, "p", 100);
    hlo_build_instruction(b, 2, "t", 100);
    hlo_build_buffer(b, 10, 1, 1024, 0);
    hlo_build_buffer(b, 20, 2, 512, 0);
    hlo_build_buffer(b, 21, 2, 256, 0);
    hlo_build_allocation(b, (struct hlo_build_allocation){.size = 1024, .is_parameter = true, .buffers = {10}});
    hlo_build_allocation(
        b, (struct hlo_build_allocation){.index = 1, .size = 1024, .buffers = {20, 21}, .offsets = {0, 512}});
    hlo_build_event(b, HLO_EVENT_ALLOC, 20, 0);
    hlo_build_event(b, HLO_EVENT_ALLOC, 21, 0);
    hlo_build_event(b, HLO_EVENT_FREE, 20, 0);
    hlo_build_end_trace(b);
}

static void the_peak_adds_up(void **state) {
    (void)state;
    struct fixture f = {0};
    build_one(&f.build);
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    const struct memory_view *v = &f.view;
    assert_int_equal(v->peak_bytes, 1024 + 768);
    assert_int_equal(v->peak_unpadded_bytes, 400 + 400 + 256);  // capped: a buffer holds no more than its bytes
    assert_int_equal(v->padding_bytes, v->peak_bytes - v->peak_unpadded_bytes);
    assert_int_equal(v->fragmentation_bytes, 256);
    assert_int_equal(v->row_count, 3);
    assert_int_equal(v->indefinite_row_count, 1);
    assert_int_equal(v->rows[0].end_step, 3);
    assert_int_equal(v->rows[2].offset, 512);
    assert_int_equal(v->at_peak_count, 3);
    done(&f);
}

static void an_unknown_memory_space_is_empty(void **state) {
    (void)state;
    struct fixture f = {0};
    build_one(&f.build);
    assert_true(view_of(&f, 77, MEMORY_VIEW_EXACT));
    assert_int_equal(f.view.row_count, 0);
    assert_int_equal(f.view.peak_bytes, 0);
    assert_false(f.view.has_simulation);
    done(&f);
}

// A second temporary allocation with a trace of its own: XProf takes the first, the exact view takes both.
static void several_temporary_allocations_are_all_counted(void **state) {
    (void)state;
    struct fixture f = {0};
    build_one(&f.build);
    hlo_build_buffer(&f.build, 30, 2, 4096, 0);
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.index = 2, .size = 4096, .buffers = {30}});
    hlo_build_event(&f.build, HLO_EVENT_ALLOC, 30, 0);
    hlo_build_end_trace(&f.build);
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    assert_int_equal(f.view.peak_bytes, 1024 + 768 + 4096);
    assert_int_equal(f.view.replay.step_count, 4);
    assert_int_equal(f.view.unsimulated_temporary_count, 0);
    assert_true(memory_view_build(&f.module, 0, MEMORY_VIEW_AS_XPROF, &f.arena, &f.view, &f.error));
    assert_int_equal(f.view.peak_bytes, 1024 + 768);
    assert_int_equal(f.view.unsimulated_temporary_bytes, 4096);
    done(&f);
}

// A buffer that shares the bytes of one after the other, none of which are given back: one row, which is at the peak as
// often as it took bytes.
static void one_buffer_takes_the_bytes_of_many(void **state) {
    (void)state;
    enum { OTHERS = 1000 };
    struct fixture f = {0};
    hlo_build_instruction(&f.build, 1, "t", 1);
    for (int64_t id = 1; id <= OTHERS + 1; id++) hlo_build_buffer(&f.build, id, 1, 100, 0);
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.index = 1, .size = 100, .buffers = {1}});
    for (int64_t id = 2; id <= OTHERS + 1; id++) hlo_build_event(&f.build, HLO_EVENT_SHARE_WITH, 1, id);
    hlo_build_end_trace(&f.build);
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    assert_int_equal(f.view.row_count, 1);
    assert_int_equal(f.view.peak_bytes, OTHERS * 100);
    assert_int_equal(f.view.at_peak_count, OTHERS);
    for (uint32_t i = 0; i < OTHERS; i++) assert_int_equal(f.view.at_peak[i], 0);
    done(&f);
}

// With several heaps XLA writes one trace once for each allocation; XProf gives up on it.
static void one_trace_over_two_allocations(void **state) {
    (void)state;
    struct fixture f = {0};
    hlo_build_instruction(&f.build, 1, "t", 1);
    for (int64_t id = 1; id <= 2; id++) hlo_build_buffer(&f.build, id, 1, 100, 0);
    for (int64_t id = 1; id <= 2; id++) {
        hlo_build_allocation(&f.build, (struct hlo_build_allocation){.index = id, .size = 100, .buffers = {id}});
        hlo_build_event(&f.build, HLO_EVENT_ALLOC, 1, 0);
        hlo_build_event(&f.build, HLO_EVENT_ALLOC, 2, 0);
        hlo_build_end_trace(&f.build);
    }
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    assert_int_equal(f.view.peak_bytes, 200);
    assert_false(memory_view_build(&f.module, 0, MEMORY_VIEW_AS_XPROF, &f.arena, &f.view, &f.error));
    assert_non_null(strstr(f.error.message, "touches 2 buffer allocations"));
    done(&f);
}

static void merged_traces_keep_program_order(void **state) {
    (void)state;
    struct fixture f = {0};
    hlo_build_instruction(&f.build, 1, "t", 1);
    for (int64_t id = 1; id <= 3; id++) hlo_build_buffer(&f.build, id, 1, 100 * id, 0);
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.index = 1, .size = 300, .buffers = {1, 2}});
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.index = 2, .size = 300, .buffers = {3}});
    hlo_build_named_event(&f.build, HLO_EVENT_ALLOC, 1, 0, "first");
    hlo_build_named_event(&f.build, HLO_EVENT_FREE, 1, 0, "second");
    hlo_build_named_event(&f.build, HLO_EVENT_ALLOC, 2, 0, "third");
    hlo_build_end_trace(&f.build);
    hlo_build_named_event(&f.build, HLO_EVENT_ALLOC, 3, 0, "third");
    hlo_build_named_event(&f.build, HLO_EVENT_FREE, 3, 0, "third");
    hlo_build_end_trace(&f.build);
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    static const int64_t curve[] = {0, 100, 0, 300, 0, 200};
    assert_int_equal(f.view.replay.step_count, 5);
    for (int i = 0; i < 6; i++) assert_int_equal(f.view.replay.heap_bytes[i], curve[i]);
    done(&f);
}

// Each trace of one event is claimed by an allocation of its own: the merge costs what its events cost, no more.
static void many_small_traces_merge_in_little_memory(void **state) {
    (void)state;
    enum { TRACES = 4000, BYTES_PER_TRACE = 2000 };
    struct fixture f = {0};
    hlo_build_instruction(&f.build, 1, "t", 1);
    for (int64_t id = 1; id <= TRACES; id++) {
        hlo_build_buffer(&f.build, id, 1, 10, 0);
        hlo_build_allocation(&f.build, (struct hlo_build_allocation){.index = id, .size = 10, .buffers = {id}});
        hlo_build_event(&f.build, HLO_EVENT_ALLOC, id, 0);
        hlo_build_end_trace(&f.build);
    }
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    assert_int_equal(f.view.peak_bytes, 10 * TRACES);
    assert_true(f.arena.used_bytes < (size_t)TRACES * BYTES_PER_TRACE);
    done(&f);
}

static void a_damaged_space_leaves_the_others_their_figures(void **state) {
    (void)state;
    struct fixture f = {0};
    build_one(&f.build);
    hlo_build_buffer(&f.build, 40, 2, 64, 1);
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.index = 9, .size = 64, .color = 1, .buffers = {40}});
    hlo_build_event(&f.build, HLO_EVENT_FREE, 40, 0);
    hlo_build_end_trace(&f.build);
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    struct memory_summary_list list;
    assert_true(memory_summaries(&f.module, &f.arena, &list, &f.error));
    assert_int_equal(list.count, 1);
    assert_int_equal(list.summaries[0].space, 0);
    assert_int_equal(list.fault.code, ERROR_MALFORMED);
    assert_false(memory_view_build(&f.module, 1, MEMORY_VIEW_EXACT, &f.arena, &f.view, &f.error));
    done(&f);
}

// The bytes that a sharer takes are those of the canonical buffer, in XProf too, though that has no event of its own.
static void shared_bytes_have_the_padding_of_a_canonical_buffer_without_events(void **state) {
    (void)state;
    struct fixture f = {0};
    hlo_build_instruction(&f.build, 1, "canonical", 100);
    hlo_build_instruction(&f.build, 2, "sharer", 50);
    hlo_build_buffer(&f.build, 10, 1, 1024, 0);
    hlo_build_buffer(&f.build, 20, 2, 1024, 0);
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 1024, .buffers = {10, 20}});
    hlo_build_event(&f.build, HLO_EVENT_SHARE_WITH, 20, 10);
    hlo_build_end_trace(&f.build);
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    assert_int_equal(f.view.peak_bytes, 1024);
    assert_int_equal(f.view.peak_unpadded_bytes, 400);
    assert_true(memory_view_build(&f.module, 0, MEMORY_VIEW_AS_XPROF, &f.arena, &f.view, &f.error));
    assert_int_equal(f.view.peak_unpadded_bytes, 400);
    done(&f);
}

// Tuples of pointers can be larger unpadded than padded: XProf's scope adds them up as they are.
static void unpadded_sums_past_int64_are_refused(void **state) {
    (void)state;
    struct fixture f = {0};
    for (int64_t id = 1; id <= 3; id++) {
        hlo_build_instruction(&f.build, id, "p", INT64_MAX / 32 - 1);
        for (int64_t k = 0; k < 4; k++) {
            hlo_build_buffer(&f.build, id * 10 + k, id, 1, 0);
            hlo_build_allocation(&f.build,
                                 (struct hlo_build_allocation){
                                     .index = id * 10 + k, .size = 1, .is_parameter = true, .buffers = {id * 10 + k}});
        }
    }
    assert_false(view_of(&f, 0, MEMORY_VIEW_AS_XPROF));
    assert_non_null(strstr(f.error.message, "more than 2^63"));
    done(&f);
}

static void descriptions_name_tuple_elements(void **state) {
    (void)state;
    struct fixture f = {0};
    struct wire_build buffer = {0}, location = {0};
    hlo_build_instruction(&f.build, 1, "fusion", 64);
    wire_build_varint(&location, LOCATION_INSTRUCTION_ID, 1);
    wire_build_varint(&location, LOCATION_SHAPE_INDEX, 1);
    wire_build_varint(&location, LOCATION_SHAPE_INDEX, 0);
    wire_build_varint(&buffer, BUFFER_ID, 5);
    wire_build_message(&buffer, BUFFER_DEFINED_AT, &location);
    wire_build_message(&f.build.assignment, ASSIGNMENT_BUFFERS, &buffer);
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    struct buffer_describer describer;
    assert_true(buffer_describer_init(&describer, &f.module, MEMORY_VIEW_EXACT, &f.arena));
    struct buffer_description words = buffer_describe(&describer, 0);
    assert_true(bytes_equal(words.name, BYTES("fusion{1,0}")));
    assert_true(bytes_equal(words.instruction, BYTES("fusion")));
    assert_true(bytes_equal(words.opcode, BYTES("add")));
    assert_true(bytes_equal(words.computation, BYTES("main")));
    assert_int_equal(buffer_describe(&describer, HLO_NONE).name.size, 0);
    done(&f);
}

enum { WHOLE_TUPLE = -1 };

static void add_element_buffer(struct hlo_build *b, int64_t id, int64_t index) {
    struct wire_build buffer = {0}, location = {0};
    wire_build_varint(&location, LOCATION_INSTRUCTION_ID, 1);
    if (index != WHOLE_TUPLE) wire_build_varint(&location, LOCATION_SHAPE_INDEX, (uint64_t)index);
    wire_build_varint(&buffer, BUFFER_ID, (uint64_t)id);
    wire_build_varint(&buffer, BUFFER_SIZE, 4096);
    wire_build_message(&buffer, BUFFER_DEFINED_AT, &location);
    wire_build_message(&b->assignment, ASSIGNMENT_BUFFERS, &buffer);
}

static void add_tuple_instruction(struct hlo_build *b, int64_t width) {
    struct wire_build instruction = {0}, tuple = {0};
    wire_build_varint(&tuple, SHAPE_ELEMENT_TYPE, ELEMENT_TUPLE);
    for (int64_t i = 0; i < width; i++) {
        struct wire_build array = hlo_build_array_shape(ELEMENT_F32, (int64_t[]){1 + i % 7}, 1);
        wire_build_message(&tuple, SHAPE_TUPLE_SHAPES, &array);
    }
    wire_build_text(&instruction, HLO_INSTRUCTION_NAME, "while");
    wire_build_message(&instruction, HLO_INSTRUCTION_SHAPE, &tuple);
    wire_build_varint(&instruction, HLO_INSTRUCTION_ID, 1);
    wire_build_message(&b->computation, HLO_COMPUTATION_INSTRUCTIONS, &instruction);
}

// Each element's buffer asks for its own shape. Walking the tuple for each would not end while anybody waits.
static void elements_of_wide_tuples_have_their_own_shapes(void **state) {
    (void)state;
    enum { WIDTH = 200000 };
    struct fixture f = {0};
    add_tuple_instruction(&f.build, WIDTH);
    for (int64_t i = 0; i < WIDTH; i++) add_element_buffer(&f.build, 1 + i, i);
    for (int64_t i = 0; i < WIDTH; i++) hlo_build_event(&f.build, HLO_EVENT_ALLOC, 1 + i, 0);
    hlo_build_end_trace(&f.build);
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 4096, .buffers = {1}});
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    assert_int_equal(f.view.row_count, WIDTH);
    struct buffer_describer describer;
    assert_true(buffer_describer_init(&describer, &f.module, MEMORY_VIEW_EXACT, &f.arena));
    for (uint32_t i = 0; i < f.view.row_count; i++) {
        uint32_t buffer = f.view.rows[i].buffer;
        assert_int_equal(f.view.rows[i].unpadded_bytes, 4 * (1 + buffer % 7));
        assert_int_equal(buffer_describe(&describer, buffer).shape.size, sizeof "f32[1]" - 1);
    }
    assert_int_equal(describer.wide_shapes.count, 1);
    done(&f);
}

// A tuple is one logical buffer. Where more claim to be the same one, its text is not written for each of them.
static void the_text_of_a_wide_tuple_is_written_once(void **state) {
    (void)state;
    enum { WIDTH = 3000, BUFFERS = 1000, LEAST_BYTES = WIDTH * 8, CUT_MOST_BYTES = 400 };
    struct fixture f = {0};
    add_tuple_instruction(&f.build, WIDTH);
    for (int64_t i = 0; i < BUFFERS; i++) add_element_buffer(&f.build, 1 + i, WHOLE_TUPLE);
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 4096, .buffers = {1}});
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    struct buffer_describer describer;
    assert_true(buffer_describer_init(&describer, &f.module, MEMORY_VIEW_EXACT, &f.arena));
    struct bytes whole = buffer_describe(&describer, 0).shape;
    assert_true(whole.size > LEAST_BYTES);
    for (uint32_t i = 1; i < BUFFERS; i++) {
        struct bytes cut = buffer_describe(&describer, i).shape;
        assert_in_range(cut.size, 1, CUT_MOST_BYTES);
        assert_true(bytes_starts_with(cut, BYTES("(f32[1], f32[2], ")));
        assert_true(bytes_contains(cut, BYTES(" more bytes")));
    }
    assert_true(bytes_equal(buffer_describe(&describer, 0).shape, whole));
    done(&f);
}

static void summaries_agree_with_views(void **state) {
    (void)state;
    struct fixture f = {0};
    build_one(&f.build);
    hlo_build_allocation(&f.build, (struct hlo_build_allocation){.size = 9, .color = 5, .is_constant = true});
    assert_true(view_of(&f, 0, MEMORY_VIEW_EXACT));
    struct memory_summary_list list;
    assert_true(memory_summaries(&f.module, &f.arena, &list, &f.error));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.summaries[0].peak_bytes, f.view.peak_bytes);
    assert_int_equal(list.summaries[0].total_bytes, f.view.totals.total_bytes);
    assert_int_equal(list.summaries[1].space, 5);
    assert_int_equal(list.summaries[1].peak_bytes, 9);
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_peak_adds_up),
        cmocka_unit_test(an_unknown_memory_space_is_empty),
        cmocka_unit_test(several_temporary_allocations_are_all_counted),
        cmocka_unit_test(one_buffer_takes_the_bytes_of_many),
        cmocka_unit_test(one_trace_over_two_allocations),
        cmocka_unit_test(merged_traces_keep_program_order),
        cmocka_unit_test(many_small_traces_merge_in_little_memory),
        cmocka_unit_test(a_damaged_space_leaves_the_others_their_figures),
        cmocka_unit_test(shared_bytes_have_the_padding_of_a_canonical_buffer_without_events),
        cmocka_unit_test(unpadded_sums_past_int64_are_refused),
        cmocka_unit_test(descriptions_name_tuple_elements),
        cmocka_unit_test(elements_of_wide_tuples_have_their_own_shapes),
        cmocka_unit_test(the_text_of_a_wide_tuple_is_written_once),
        cmocka_unit_test(summaries_agree_with_views),
    };
    return cmocka_run_group_tests_name("memory_view", tests, NULL, NULL);
}
