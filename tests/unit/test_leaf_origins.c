// analysis/program/leaf_origins: who tells where an array is from, when its own operation does not.
#include "analysis/program/leaf_origins.h"

#include "tests/unit/cmocka_all.h"
#include "tests/unit/program_build.h"

struct fixture {
    struct program_build build;
    struct arena arena;
    struct hlo_module module;
    struct program_graph graph;
    struct leaf_origins origins;
    struct error error;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    arena_init(&f->arena, 0);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    program_build_free(&f->build);
    arena_free(&f->arena);
    free(f);
    return 0;
}

// Operations with a line tell, and so do the parameters of the entry.
static void find(struct fixture *f) {
    assert_true(hlo_module_load(program_build_finish(&f->build), &f->arena, &f->module, &f->error));
    assert_true(program_graph_read(&f->module, &f->arena, &f->graph, &f->error));
    uint8_t *is_told = arena_new(&f->arena, uint8_t, f->graph.node_count);
    for (uint32_t i = 0; i < f->graph.node_count; i++) {
        const struct graph_node *node = &f->graph.nodes[i];
        struct hlo_instruction instruction = hlo_instruction_read(&f->module, i);
        is_told[i] = hlo_metadata_read(instruction.metadata).source_line > 0 ||
                     (node->opcode == OPCODE_PARAMETER && node->computation == f->graph.entry);
    }
    assert_true(leaf_origins_find(&f->graph, is_told, &f->arena, &f->origins));
}

static void node(struct fixture *f, struct program_node described) {
    program_build_node(&f->build, described);
}

static void check_leaf(const struct fixture *f, int64_t id, uint32_t leaf, int64_t origin, enum leaf_origin_way way) {
    uint32_t index = id_map_get(&f->graph.node_by_id, id);
    struct leaf_origin found = f->origins.of_leaf[f->graph.nodes[index].first_leaf + leaf];
    assert_int_equal(found.way, way);
    if (way == ORIGIN_NONE)
        assert_int_equal(found.node, HLO_NONE);
    else
        assert_int_equal(f->module.instructions[found.node].id, origin);
}

static void check(const struct fixture *f, int64_t id, int64_t origin, enum leaf_origin_way way) {
    check_leaf(f, id, 0, origin, way);
}

static void copies_are_of_their_operand(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "p", .opcode = "parameter"});
    node(f,
         (struct program_node){.id = 2, .name = "a", .opcode = "add", .operands = {1, 1}, .file = "a.py", .line = 1});
    node(f, (struct program_node){.id = 3, .name = "c", .opcode = "copy", .operands = {2}});
    node(f, (struct program_node){.id = 4, .name = "s", .opcode = "copy-start", .operands = {3}, .elements = 3});
    node(f, (struct program_node){.id = 5, .name = "d", .opcode = "copy-done", .operands = {4}});
    node(f, (struct program_node){.id = 6, .name = "q", .opcode = "copy", .operands = {1}});
    node(f, (struct program_node){
                .id = 7, .name = "b", .opcode = "multiply", .operands = {6, 5}, .file = "b.py", .line = 9});
    program_build_end(&f->build, 10, 7);
    find(f);
    check(f, 2, 2, ORIGIN_OWN);
    check(f, 3, 2, ORIGIN_OPERAND);
    for (uint32_t leaf = 0; leaf < 3; leaf++) check_leaf(f, 4, leaf, 2, ORIGIN_OPERAND);
    check(f, 5, 2, ORIGIN_OPERAND);
    check(f, 6, 1, ORIGIN_OPERAND);
    uint32_t done = id_map_get(&f->graph.node_by_id, 5);
    assert_int_equal(f->origins.of_node[done].links, 3);
}

static void the_nearest_wins_and_operations_before_parameters(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "p", .opcode = "parameter"});
    node(f,
         (struct program_node){.id = 2, .name = "a", .opcode = "add", .operands = {1, 1}, .file = "a.py", .line = 1});
    node(f,
         (struct program_node){.id = 3, .name = "b", .opcode = "add", .operands = {1, 1}, .file = "a.py", .line = 2});
    node(f, (struct program_node){.id = 4, .name = "near", .opcode = "add", .operands = {1, 3}});
    node(f, (struct program_node){.id = 5, .name = "first", .opcode = "add", .operands = {3, 2}});
    node(f, (struct program_node){.id = 6, .name = "far", .opcode = "copy", .operands = {2}});
    node(f, (struct program_node){.id = 7, .name = "nearer", .opcode = "add", .operands = {6, 1}});
    program_build_end(&f->build, 10, 7);
    find(f);
    check(f, 4, 3, ORIGIN_OPERAND);
    check(f, 5, 3, ORIGIN_OPERAND);
    check(f, 7, 1, ORIGIN_OPERAND);
}

static void elements_of_tuples_keep_their_places(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "a", .opcode = "iota", .file = "a.py", .line = 1});
    node(f, (struct program_node){.id = 2, .name = "b", .opcode = "iota", .file = "a.py", .line = 2});
    node(f, (struct program_node){.id = 3, .name = "t", .opcode = "tuple", .operands = {1, 2}, .elements = 2});
    node(f, (struct program_node){.id = 4, .name = "g", .opcode = "get-tuple-element", .operands = {3}, .number = 1});
    node(f, (struct program_node){.id = 5, .name = "c", .opcode = "copy", .operands = {4}});
    program_build_end(&f->build, 10, 5);
    find(f);
    check_leaf(f, 3, 0, 1, ORIGIN_OPERAND);
    check_leaf(f, 3, 1, 2, ORIGIN_OPERAND);
    check(f, 4, 2, ORIGIN_OPERAND);
    check(f, 5, 2, ORIGIN_OPERAND);
}

// A fusion whose root does not tell is what the root computes from; the body's parameters are what callers pass.
static void fusions_are_looked_into(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "x", .opcode = "parameter"});
    node(f, (struct program_node){
                .id = 2, .name = "e", .opcode = "exponential", .operands = {1}, .file = "b.py", .line = 7});
    node(f, (struct program_node){.id = 3, .name = "r", .opcode = "convert", .operands = {2}});
    program_build_end(&f->build, 20, 3);
    node(f, (struct program_node){.id = 4, .name = "y", .opcode = "parameter"});
    node(f, (struct program_node){.id = 5, .name = "k", .opcode = "copy", .operands = {4}});
    program_build_end(&f->build, 21, 5);
    node(f, (struct program_node){.id = 6, .name = "p", .opcode = "parameter"});
    node(f, (struct program_node){.id = 7, .name = "told inside", .opcode = "fusion", .operands = {6}, .called = {20}});
    node(f, (struct program_node){.id = 8, .name = "copies", .opcode = "fusion", .operands = {6}, .called = {21}});
    program_build_end(&f->build, 22, 8);
    find(f);
    check(f, 7, 2, ORIGIN_OPERAND);
    check(f, 8, 6, ORIGIN_OPERAND);
    check(f, 1, 6, ORIGIN_OPERAND);
}

static void loops_carry_what_they_get(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "state", .opcode = "parameter", .elements = 2});
    node(f, (struct program_node){.id = 2, .name = "g", .opcode = "get-tuple-element", .operands = {1}, .number = 1});
    node(f, (struct program_node){.id = 3, .name = "c", .opcode = "copy", .operands = {2}});
    node(f, (struct program_node){.id = 4, .name = "h", .opcode = "get-tuple-element", .operands = {1}});
    node(f, (struct program_node){.id = 5, .name = "t", .opcode = "tuple", .operands = {4, 3}, .elements = 2});
    program_build_end(&f->build, 20, 5);
    node(f, (struct program_node){.id = 6, .name = "a", .opcode = "iota", .file = "a.py", .line = 1});
    node(f, (struct program_node){.id = 7, .name = "b", .opcode = "iota", .file = "a.py", .line = 2});
    node(f, (struct program_node){.id = 8, .name = "i", .opcode = "tuple", .operands = {6, 7}, .elements = 2});
    node(f, (struct program_node){
                .id = 9, .name = "w", .opcode = "while", .operands = {8}, .called = {20}, .elements = 2});
    program_build_end(&f->build, 21, 9);
    find(f);
    check(f, 3, 7, ORIGIN_OPERAND);
    check_leaf(f, 9, 0, 6, ORIGIN_OPERAND);
    check_leaf(f, 9, 1, 7, ORIGIN_OPERAND);
}

static void users_tell_when_no_operand_does(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "z", .opcode = "constant"});
    node(f, (struct program_node){.id = 2, .name = "b", .opcode = "broadcast", .operands = {1}});
    node(f,
         (struct program_node){.id = 3, .name = "u", .opcode = "add", .operands = {2, 2}, .file = "a.py", .line = 3});
    node(f, (struct program_node){.id = 4, .name = "alone", .opcode = "constant"});
    program_build_end(&f->build, 10, 3);
    find(f);
    check(f, 2, 3, ORIGIN_USER);
    check(f, 1, 3, ORIGIN_USER);
    check(f, 4, 0, ORIGIN_NONE);
}

static void strange_graphs_end(void **state) {
    struct fixture *f = *state;
    node(f, (struct program_node){.id = 1, .name = "a", .opcode = "add", .operands = {2, 1}});
    node(f, (struct program_node){.id = 2, .name = "b", .opcode = "copy", .operands = {1}});
    node(f, (struct program_node){.id = 3, .name = "c", .opcode = "copy", .operands = {99}});
    node(f, (struct program_node){.id = 4, .name = "f", .opcode = "fusion", .operands = {3}, .called = {10}});
    program_build_end(&f->build, 10, 4);
    find(f);
    for (int64_t id = 1; id <= 4; id++) check(f, id, 0, ORIGIN_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copies_are_of_their_operand, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_nearest_wins_and_operations_before_parameters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(elements_of_tuples_keep_their_places, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fusions_are_looked_into, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loops_carry_what_they_get, set_up, tear_down),
        cmocka_unit_test_setup_teardown(users_tell_when_no_operand_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strange_graphs_end, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("leaf_origins", tests, NULL, NULL);
}
