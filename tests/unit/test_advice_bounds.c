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
    for (int id = 0; id < ADVICE_ID_COUNT; id++) {
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
    assert_true(applying > 4000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prediction_is_one_that_the_buffers_allow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
