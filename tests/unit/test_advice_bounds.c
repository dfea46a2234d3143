// Predictions stay inside what the buffers allow, on programs of every sort: random sizes, heaps and allocations that
// need not fit together.
#include "analysis/advice/advise.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/program_build.h"

enum { PARAMETERS = 3, NODES = 8, OUTPUTS = 3, ROOT = NODES + 1, ARENA_LIMIT_BYTES = 64 << 20 };

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

// Sizes over many orders of magnitude, so that a heap may be next to nothing beside its allocation.
static int64_t any_size(uint32_t *seed) {
    return (int64_t)(next_random(seed) % 1000 + 1) << next_random(seed) % 30;
}

static const char *any_op_name(uint32_t *seed) {
    static const char *const names[] = {"jit(f)/jvp()/mul", "jit(f)/transpose(jvp())/mul", "jit(f)/sub",
                                        "debug_callback"};
    return names[next_random(seed) % 4];
}

static void add_nodes(struct program_build *b, uint32_t *seed) {
    static const char *const opcodes[] = {"copy", "add", "custom-call", "convert"};
    for (int64_t id = 1; id <= PARAMETERS; id++)
        program_build_node(b, (struct program_node){.id = id, .name = "p", .opcode = "parameter", .number = id - 1});
    for (int64_t id = PARAMETERS + 1; id <= NODES; id++) {
        int64_t left = 1 + next_random(seed) % (uint32_t)(id - 1), right = 1 + next_random(seed) % (uint32_t)(id - 1);
        program_build_node(b, (struct program_node){.id = id,
                                                    .name = next_random(seed) % 2 ? "op" : "op.remat",
                                                    .opcode = opcodes[next_random(seed) % 4],
                                                    .operands = {left, right},
                                                    .op_name = any_op_name(seed)});
    }
    program_build_node(b, (struct program_node){.id = ROOT,
                                                .name = "out",
                                                .opcode = "tuple",
                                                .elements = OUTPUTS,
                                                .operands = {NODES, NODES - 1, NODES - 2}});
    program_build_end(b, 1, ROOT);
}

// Of instruction i buffer 10 + i: inputs, outputs and temporaries have allocations that may be larger than they, and
// the trace frees what it allocated in any order.
static void add_buffers(struct hlo_build *h, uint32_t *seed) {
    struct hlo_build_allocation heap = {.index = 100, .size = any_size(seed)};
    int heap_count = 0;
    for (int64_t id = 1; id <= NODES; id++) {
        int64_t size = any_size(seed);
        bool is_input = id <= PARAMETERS, is_output = id > NODES - OUTPUTS;
        hlo_build_buffer(h, 10 + id, id, size, 0);
        if (!is_input && !is_output) heap.buffers[heap_count++] = 10 + id;
        if (is_input || is_output)
            hlo_build_allocation(h, (struct hlo_build_allocation){.index = id,
                                                                  .size = size + any_size(seed),
                                                                  .is_parameter = is_input,
                                                                  .is_live_out = is_output,
                                                                  .buffers = {10 + id}});
    }
    hlo_build_allocation(h, heap);
    for (int i = 0; i < heap_count; i++) hlo_build_event(h, HLO_EVENT_ALLOC, heap.buffers[i], 0);
    for (int i = heap_count - 1; i >= 0; i--) hlo_build_event(h, HLO_EVENT_FREE, heap.buffers[i], 0);
    hlo_build_end_trace(h);
}

static void check_item(const struct advice *advice, const struct advice_item *item) {
    assert_true(item->touched_bytes >= 0 && item->touched_bytes <= advice->total_bytes && item->added_bytes >= 0);
    assert_true(item->saves_bytes <= item->touched_bytes && item->saves_bytes >= -item->added_bytes);
    assert_int_equal(item->saves_bytes, advice->total_bytes - item->predicted_total_bytes);
    assert_true(item->predicted_total_bytes >= 0 && item->predicted_peak_bytes >= 0);
    assert_true(item->predicted_indefinite_bytes >= 0);
    assert_true(item->low_bytes <= item->predicted_total_bytes && item->predicted_total_bytes <= item->high_bytes);
    assert_true(item->stays_bytes >= 0 && item->low_bytes >= item->stays_bytes);
    assert_true(item->applies || item->touched_bytes == 0 || item->cannot_tell);
    assert_true(item->understood >= 0 && item->understood <= 1 && item->cannot_tell == (item->understood < 0.5));
    assert_false(item->cannot_tell && item->applies);
    assert_true(!item->followed_total_bytes ||
                (item->applies && item->followed_total_bytes < item->predicted_total_bytes));
    assert_true(!item->followed_high_bytes ||
                (item->followed_total_bytes && item->followed_total_bytes <= item->followed_high_bytes &&
                 item->followed_high_bytes <= item->high_bytes));
    assert_true(!item->kept_low_bytes || (item->followed_total_bytes && item->low_bytes <= item->kept_low_bytes &&
                                          item->kept_low_bytes <= item->predicted_total_bytes));
    assert_true(!item->cannot_tell || strstr(item->evidence[0], "Cannot tell from this program") == item->evidence[0]);
}

static uint32_t check_program(uint32_t *seed) {
    struct program_build b = {0};
    struct arena arena;
    struct hlo_module module;
    struct error error = {0};
    uint32_t applying = 0;
    arena_init(&arena, ARENA_LIMIT_BYTES);
    struct advice *advice = arena_new(&arena, struct advice, 1);
    add_nodes(&b, seed);
    add_buffers(&b.hlo, seed);
    struct advice_request request = {.capacity_bytes = any_size(seed), .ways = 2 + next_random(seed) % 8};
    assert_true(hlo_module_load(program_build_finish(&b), &arena, &module, &error));
    assert_true(advice_make(&module, &request, &arena, advice, &error));
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) {
        check_item(advice, &advice->items[id]);
        applying += advice->items[id].applies;
    }
    arena_free(&arena);
    program_build_free(&b);
    return applying;
}

static void every_prediction_is_one_that_the_buffers_allow(void **state) {
    (void)state;
    uint32_t seed = 14, applying = 0;
    for (int i = 0; i < 2000; i++) applying += check_program(&seed);
    assert_true(applying > 3500);  // and so there was something to hold
}

// --- Sizes that no chip has ---

// %g1 and %g2 of 2^62 bytes lie in the outputs that %o1 and %o2 are written to later; %t is on the heap.
static void add_huge_guests(struct program_build *b) {
    enum { P = 1, G1, G2, T, O1, O2, OUT };
    struct wire_build ids = {0}, entry = {0}, schedule = {0};
    static const char *const names[] = {"", "p", "g1", "g2", "t", "o1", "o2"};
    static const int64_t operands[][2] = {[G1] = {P}, [G2] = {P}, [T] = {G1, G2}, [O1] = {T}, [O2] = {T}};
    for (int64_t id = P; id <= O2; id++) {
        program_build_node(b, (struct program_node){.id = id,
                                                    .name = names[id],
                                                    .opcode = id == P ? "parameter" : "add",
                                                    .operands = {operands[id][0], operands[id][1]}});
        hlo_build_buffer(&b->hlo, 10 + id, id, id == G1 || id == G2 ? (int64_t)1 << 62 : 32, 0);
    }
    program_build_node(
        b, (struct program_node){.id = OUT, .name = "out", .opcode = "tuple", .elements = 2, .operands = {O1, O2}});
    program_build_end(b, 1, OUT);
    for (uint64_t id = P; id <= OUT; id++) wire_build_varint(&ids, SEQUENCE_INSTRUCTION_IDS, id);
    wire_build_varint(&entry, SEQUENCES_ENTRY_KEY, 1);
    wire_build_message(&entry, SEQUENCES_ENTRY_VALUE, &ids);
    wire_build_message(&schedule, SCHEDULE_SEQUENCES, &entry);
    wire_build_message(&b->computations, HLO_MODULE_SCHEDULE, &schedule);
    for (int64_t g = G1; g <= G2; g++)
        hlo_build_allocation(&b->hlo, (struct hlo_build_allocation){
                                          .index = g, .size = 32, .is_live_out = true, .buffers = {10 + g, 13 + g}});
    hlo_build_allocation(&b->hlo, (struct hlo_build_allocation){.index = T, .size = 32, .buffers = {10 + T}});
    hlo_build_named_event(&b->hlo, HLO_EVENT_ALLOC, 10 + T, 0, "t");
    hlo_build_named_event(&b->hlo, HLO_EVENT_FREE, 10 + T, 0, "o2");
    hlo_build_end_trace(&b->hlo);
}

static void guests_that_sum_past_int64_are_none(void **state) {
    (void)state;
    struct program_build b = {0};
    struct arena arena;
    struct hlo_module module;
    struct error error = {0};
    struct advice_request request = {.ways = 2};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    struct advice *advice = arena_new(&arena, struct advice, 1);
    add_huge_guests(&b);
    assert_true(hlo_module_load(program_build_finish(&b), &arena, &module, &error));
    if (!advice_make(&module, &request, &arena, advice, &error)) fail_msg("%s", error.message);
    for (int id = 0; id < ADVICE_CHANGE_COUNT; id++) check_item(advice, &advice->items[id]);
    arena_free(&arena);
    program_build_free(&b);
}

// The heap of the program takes all that int64 holds, its outputs some more.
static void a_heap_of_all_bytes_is_refused(void **state) {
    (void)state;
    struct program_build b = {0};
    struct arena arena;
    struct hlo_module module;
    struct error error = {0};
    struct advice_request request = {.ways = 2};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    struct advice *advice = arena_new(&arena, struct advice, 1);
    program_build_node(&b, (struct program_node){.id = 1, .name = "p", .opcode = "parameter"});
    program_build_node(&b, (struct program_node){.id = 2, .name = "out", .opcode = "copy", .operands = {1}});
    program_build_end(&b, 1, 2);
    hlo_build_buffer(&b.hlo, 11, 1, INT64_MAX, 0);
    hlo_build_buffer(&b.hlo, 12, 2, 32, 0);
    hlo_build_allocation(&b.hlo, (struct hlo_build_allocation){.index = 1, .size = 32, .buffers = {11}});
    hlo_build_allocation(&b.hlo,
                         (struct hlo_build_allocation){.index = 2, .size = 32, .is_live_out = true, .buffers = {12}});
    hlo_build_event(&b.hlo, HLO_EVENT_ALLOC, 11, 0);
    hlo_build_end_trace(&b.hlo);
    assert_true(hlo_module_load(program_build_finish(&b), &arena, &module, &error));
    assert_false(advice_make(&module, &request, &arena, advice, &error));
    assert_int_equal(error.code, ERROR_MALFORMED);
    arena_free(&arena);
    program_build_free(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prediction_is_one_that_the_buffers_allow),
        cmocka_unit_test(guests_that_sum_past_int64_are_none),
        cmocka_unit_test(a_heap_of_all_bytes_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
