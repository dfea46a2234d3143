#include "analysis/hlo/hlo_load.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/hlo_build.h"

static struct hlo_build small_program(void) {
    struct hlo_build b = {0};
    hlo_build_instruction(&b, 1, "a", 100);
    hlo_build_instruction(&b, 7, "b", 200);
    hlo_build_buffer(&b, 10, 1, 512, 0);
    hlo_build_buffer(&b, 11, 7, 1024, 0);
    hlo_build_allocation(
        &b, (struct hlo_build_allocation){.index = 3, .size = 1536, .buffers = {10, 11}, .offsets = {0, 512}});
    hlo_build_event(&b, HLO_EVENT_ALLOC, 10, 0);
    hlo_build_event(&b, HLO_EVENT_SHARE_WITH, 11, 10);
    hlo_build_event(&b, HLO_EVENT_FREE, 99, 0);
    hlo_build_end_trace(&b);
    return b;
}

static void columns_hold_what_the_message_says(void **state) {
    (void)state;
    struct hlo_build b = small_program();
    struct arena arena;
    struct hlo_module m;
    struct error error;
    arena_init(&arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&b), &arena, &m, &error));
    assert_true(bytes_equal(m.name, BYTES("jit_f")));
    assert_true(bytes_equal(m.entry_computation_name, BYTES("main")));
    assert_int_equal(m.instruction_count, 2);
    assert_true(bytes_equal(hlo_instruction_read(&m, 1).name, BYTES("b")));
    assert_true(bytes_equal(m.computation_names[m.instructions[1].computation], BYTES("main")));
    assert_int_equal(m.buffer_count, 2);
    assert_int_equal(m.buffers[1].size_bytes, 1024);
    assert_int_equal(m.buffers[1].instruction, 1);
    assert_int_equal(m.allocation_of_buffer[0], 0);
    assert_int_equal(m.allocations[0].index, 3);
    assert_int_equal(m.assigned[1].offset, 512);
    assert_int_equal(m.traces[0].event_count, 3);
    assert_int_equal(m.events[1].canonical, 0);
    assert_int_equal(m.events[2].buffer, HLO_NONE);
    assert_int_equal(m.events[2].buffer_id, 99);
    arena_free(&arena);
    hlo_build_free(&b);
}

// Small ids and those far beyond the number of buffers are kept in two ways.
static void buffers_are_found_by_any_id(void **state) {
    (void)state;
    static const int64_t ids[] = {0, 1, 19, 20, 21, 1 << 20, INT64_MAX, -1, INT64_MIN};
    enum { COUNT = sizeof ids / sizeof *ids };
    struct hlo_build b = {0};
    struct arena arena;
    struct hlo_module m;
    struct error error;
    hlo_build_instruction(&b, 1, "a", 1);
    for (int i = 0; i < COUNT; i++) hlo_build_buffer(&b, ids[i], 1, i, 0);
    for (int i = 0; i < COUNT; i++) hlo_build_buffer(&b, ids[i], 1, 100, 0);  // the first one keeps the id
    arena_init(&arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&b), &arena, &m, &error));
    for (uint32_t i = 0; i < COUNT; i++) assert_int_equal(hlo_buffer_of(&m, ids[i]), i);
    static const int64_t unknown[] = {2, 18, 71, 72, 73, 1 << 21, -2, INT64_MIN + 1};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        assert_int_equal(hlo_buffer_of(&m, unknown[i]), HLO_NONE);
    }
    arena_free(&arena);
    hlo_build_free(&b);
}

// However many buffers are elements of its tuple, a long instruction is walked once, while loading: what its message
// holds later is not looked at.
static void a_long_instruction_is_read_once(void **state) {
    (void)state;
    struct hlo_build b = {0};
    struct wire_build instruction = {0}, metadata = {0};
    for (int i = 0; i < HLO_LONG_INSTRUCTION_BYTES; i++)
        wire_build_varint(&instruction, HLO_INSTRUCTION_OPERAND_IDS, 1);
    wire_build_text(&metadata, OP_METADATA_OP_NAME, "jit(f)/add");
    wire_build_message(&instruction, HLO_INSTRUCTION_METADATA, &metadata);
    wire_build_text(&instruction, HLO_INSTRUCTION_NAME, "long");
    wire_build_message(&b.computation, HLO_COMPUTATION_INSTRUCTIONS, &instruction);
    hlo_build_instruction(&b, 1, "short", 1);
    struct arena arena;
    struct hlo_module m;
    struct error error;
    arena_init(&arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&b), &arena, &m, &error));
    memset((uint8_t *)(uintptr_t)m.instructions[0].message.data, 0xff, HLO_LONG_INSTRUCTION_BYTES);
    struct hlo_instruction said = hlo_instruction_read(&m, 0);
    assert_true(bytes_equal(said.name, BYTES("long")));
    assert_true(bytes_equal(hlo_instruction_metadata(&m, 0, said.metadata).op_name, BYTES("jit(f)/add")));
    assert_true(bytes_equal(hlo_instruction_read(&m, 1).name, BYTES("short")));
    arena_free(&arena);
    hlo_build_free(&b);
}

// Before 2022 a logical buffer named its instruction.
static void buffers_are_found_by_instruction_name(void **state) {
    (void)state;
    struct hlo_build b = {0};
    struct wire_build buffer = {0}, location = {0};
    hlo_build_instruction(&b, 1, "a", 1);
    hlo_build_instruction(&b, 2, "b", 1);
    wire_build_text(&location, LOCATION_INSTRUCTION_NAME, "b");
    wire_build_varint(&buffer, BUFFER_ID, 5);
    wire_build_message(&buffer, BUFFER_DEFINED_AT, &location);
    wire_build_message(&b.assignment, ASSIGNMENT_BUFFERS, &buffer);
    struct arena arena;
    struct hlo_module m;
    struct error error;
    arena_init(&arena, 0);
    assert_true(hlo_module_load(hlo_build_finish(&b), &arena, &m, &error));
    assert_int_equal(m.buffers[0].instruction, 1);
    arena_free(&arena);
    hlo_build_free(&b);
}

static void shape_indexes_are_read_packed_and_unpacked(void **state) {
    (void)state;
    struct wire_build packed = {0}, unpacked = {0}, values = {0};
    wire_build_bare_varint(&values, 1);
    wire_build_bare_varint(&values, 300);
    wire_build_message(&packed, LOCATION_SHAPE_INDEX, &values);
    wire_build_varint(&unpacked, LOCATION_SHAPE_INDEX, 1);
    wire_build_varint(&unpacked, LOCATION_SHAPE_INDEX, 300);
    struct wire_build *both[] = {&packed, &unpacked};
    for (size_t i = 0; i < 2; i++) {
        struct hlo_buffer buffer = {.defined_at = wire_build_view(both[i])};
        int64_t index[4];
        assert_int_equal(hlo_buffer_shape_index(&buffer, index, 4), 2);
        assert_int_equal(index[0], 1);
        assert_int_equal(index[1], 300);
        assert_int_equal(hlo_buffer_shape_index(&buffer, index, 1), 2);  // says how many there are
        wire_build_free(both[i]);
    }
}

// Cut at every byte: an error whose offset lies inside what was given, or a shorter module that loads.
static void truncation_is_an_error_with_an_offset(void **state) {
    (void)state;
    struct hlo_build b = small_program();
    struct bytes blob = hlo_build_finish(&b);
    size_t errors = 0;
    for (size_t size = 0; size < blob.size; size++) {
        struct arena arena;
        struct hlo_module m;
        struct error error = {0};
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, blob.data, size);
        arena_init(&arena, 1 << 20);
        if (!hlo_module_load((struct bytes){copy, size}, &arena, &m, &error)) {
            errors++;
            assert_int_equal(error.code, ERROR_MALFORMED);
            assert_in_range(error.offset, 0, size);
            assert_true(error.message[0]);
        }
        arena_free(&arena);
        free(copy);
    }
    assert_true(errors > blob.size / 2);
    hlo_build_free(&b);
}

static void expect_error(struct hlo_build *b, const char *part) {
    struct arena arena;
    struct hlo_module m;
    struct error error = {0};
    arena_init(&arena, 1 << 20);
    assert_false(hlo_module_load(hlo_build_finish(b), &arena, &m, &error));
    assert_non_null(strstr(error.message, part));
    arena_free(&arena);
    hlo_build_free(b);
}

static void impossible_values_are_refused(void **state) {
    (void)state;
    struct hlo_build negative_buffer = {0}, negative_allocation = {0}, strange_event = {0}, nothing = {0};
    hlo_build_buffer(&negative_buffer, 1, 1, -5, 0);
    expect_error(&negative_buffer, "logical buffer 1 has a negative size");
    hlo_build_allocation(&negative_allocation, (struct hlo_build_allocation){.index = 4, .size = -1});
    expect_error(&negative_allocation, "buffer allocation 4 has a negative size");
    hlo_build_event(&strange_event, (enum hlo_event_kind)9, 1, 0);
    hlo_build_end_trace(&strange_event);
    expect_error(&strange_event, "kind 9");
    struct arena arena;
    struct hlo_module m;
    struct error error = {0};
    arena_init(&arena, 0);
    assert_false(hlo_module_load(wire_build_view(&nothing.blob), &arena, &m, &error));
    assert_non_null(strstr(error.message, "not an HloProto"));
}

static void a_small_arena_is_an_error(void **state) {
    (void)state;
    struct hlo_build b = small_program();
    struct arena arena;
    struct hlo_module m;
    struct error error = {0};
    arena_init(&arena, 16);
    assert_false(hlo_module_load(hlo_build_finish(&b), &arena, &m, &error));
    assert_int_equal(error.code, ERROR_TOO_BIG);
    arena_free(&arena);
    hlo_build_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_hold_what_the_message_says),
        cmocka_unit_test(buffers_are_found_by_any_id),
        cmocka_unit_test(a_long_instruction_is_read_once),
        cmocka_unit_test(buffers_are_found_by_instruction_name),
        cmocka_unit_test(shape_indexes_are_read_packed_and_unpacked),
        cmocka_unit_test(truncation_is_an_error_with_an_offset),
        cmocka_unit_test(impossible_values_are_refused),
        cmocka_unit_test(a_small_arena_is_an_error),
    };
    return cmocka_run_group_tests_name("hlo_module", tests, NULL, NULL);
}
