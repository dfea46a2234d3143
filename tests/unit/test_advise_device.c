// What a program is for: memory space 1 is VMEM of a TPU, and what collectives of a GPU use; layouts tell as well.
#include "analysis/advice/advise.h"
#include "analysis/advice/target.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/program_build.h"

enum { ARENA_LIMIT_BYTES = 64 << 20, SIZE = 1 << 20 };

// p -> copy of it in memory space 1 -> copy of that, which is returned.
static struct bytes program_with_space_1(struct program_build *b, const char *backend_config) {
    program_build_node(b, (struct program_node){.id = 1, .name = "p", .opcode = "parameter"});
    program_build_node(b, (struct program_node){.id = 2, .name = "c", .opcode = "copy", .operands = {1}});
    program_build_node(b,
                       (struct program_node){
                           .id = 3, .name = "d", .opcode = "copy", .operands = {2}, .backend_config = backend_config});
    program_build_end(b, 1, 3);
    for (int64_t id = 1; id <= 3; id++) {
        hlo_build_buffer(&b->hlo, 10 + id, id, SIZE, id == 2);
        hlo_build_allocation(&b->hlo, (struct hlo_build_allocation){.index = id,
                                                                    .size = SIZE,
                                                                    .color = id == 2,
                                                                    .is_parameter = id == 1,
                                                                    .is_live_out = id == 3,
                                                                    .buffers = {10 + id}});
    }
    return program_build_finish(b);
}

static void check_device(const char *backend_config, bool is_for_tpu, bool is_for_gpu) {
    struct program_build b = {0};
    struct arena arena;
    struct hlo_module module;
    struct error error = {0};
    struct advice_request request = {.ways = 2};
    arena_init(&arena, ARENA_LIMIT_BYTES);
    struct advice *advice = arena_new(&arena, struct advice, 1);
    assert_true(hlo_module_load(program_with_space_1(&b, backend_config), &arena, &module, &error));
    assert_true(advice_make(&module, &request, &arena, advice, &error));
    assert_int_equal(advice->is_for_tpu, is_for_tpu);
    assert_int_equal(advice->is_for_gpu, is_for_gpu);
    arena_free(&arena);
    program_build_free(&b);
}

static void memory_space_1_is_a_tpus(void **state) {
    (void)state;
    check_device(NULL, true, false);
}

static void of_a_gpu_it_is_no_fast_memory(void **state) {
    (void)state;
    check_device("{\"operation_queue_id\":\"0\"}", false, true);
}

static void tiled_layouts_are_a_tpus(void **state) {
    (void)state;
    struct hlo_module module = {0};
    struct array_shape leaves[2] = {{.rank = ARRAY_NONE, .tile_rank = 2}, {.rank = 2, .dimensions = {8, 128}}};
    struct program_graph graph = {.module = &module, .leaves = leaves, .leaf_count = 2};
    assert_false(target_of(&module, &graph).is_tpu);
    leaves[1].tile_rank = 2;
    assert_true(target_of(&module, &graph).is_tpu);
    assert_false(target_of(&module, &graph).is_gpu);
    assert_int_equal(target_of(&module, &graph).fast_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_space_1_is_a_tpus),
        cmocka_unit_test(of_a_gpu_it_is_no_fast_memory),
        cmocka_unit_test(tiled_layouts_are_a_tpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
