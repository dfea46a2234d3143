#include "analysis/hlo/stack_trace.h"

#include "tests/unit/cmocka_all.h"

static struct bytes files[] = {{(const uint8_t *)"train.py", 8}};
static struct bytes functions[] = {{(const uint8_t *)"step", 4}};
static struct hlo_stack_location locations[] = {{1, 1, 12, 3}, {1, 9, 40, 1}};

static struct hlo_module module_with(struct hlo_stack_frame *frames, uint32_t count) {
    return (struct hlo_module){.file_names = files,
                               .file_name_count = 1,
                               .function_names = functions,
                               .function_name_count = 1,
                               .stack_locations = locations,
                               .stack_location_count = 2,
                               .stack_frames = frames,
                               .stack_frame_count = count};
}

static void frames_come_innermost_first(void **state) {
    (void)state;
    struct hlo_stack_frame frames[] = {{2, 0}, {1, 1}};
    struct hlo_module m = module_with(frames, 2);
    struct stack_trace_frame trace[4];
    assert_int_equal(stack_trace_read(&m, 2, trace, 4), 2);
    assert_true(bytes_equal(trace[0].file, BYTES("train.py")));
    assert_true(bytes_equal(trace[0].function, BYTES("step")));
    assert_int_equal(trace[0].line, 12);
    assert_int_equal(trace[0].column, 3);
    assert_int_equal(trace[1].line, 40);
    assert_int_equal(trace[1].function.size, 0);  // function 9 does not exist
}

static void cycles_and_strange_ids_end_the_stack(void **state) {
    (void)state;
    struct hlo_stack_frame frames[] = {{1, 2}, {1, 1}, {7, 3}, {1, -5}};
    struct hlo_module m = module_with(frames, 4);
    struct stack_trace_frame trace[STACK_TRACE_MAX_FRAMES];
    assert_int_equal(stack_trace_read(&m, 1, trace, STACK_TRACE_MAX_FRAMES), STACK_TRACE_MAX_FRAMES);
    assert_int_equal(stack_trace_read(&m, 3, trace, 4), 1);  // its own parent, at no location
    assert_int_equal(trace[0].line, 0);
    assert_int_equal(stack_trace_read(&m, 4, trace, 4), 1);
    assert_int_equal(stack_trace_read(&m, 0, trace, 4), 0);
    assert_int_equal(stack_trace_read(&m, 5, trace, 4), 0);
    assert_int_equal(stack_trace_read(&m, INT32_MIN, trace, 4), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_come_innermost_first),
                                       cmocka_unit_test(cycles_and_strange_ids_end_the_stack)};
    return cmocka_run_group_tests_name("stack_trace", tests, NULL, NULL);
}
