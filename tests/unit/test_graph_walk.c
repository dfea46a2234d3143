// Computations by hand: the last is the entry, and the body of what it calls first stands last among the others.
#include "analysis/program/graph_walk.h"

#include <stdlib.h>

#include "tests/unit/cmocka_all.h"

enum { NODES = 10, COMPUTATIONS = 4 };

struct by_hand {
    struct graph_node nodes[NODES];
    struct graph_computation computations[COMPUTATIONS];
    uint32_t called[4];
    struct program_graph graph;
    struct arena arena;
};

//     0 nobody calls it  %0        1 the late layer  %1 %2        2 the early one  %3 %4
//     3 entry  %5  %6 = fusion, calls 2  %7 = fusion, calls 1  %8 = while, calls 2 and 2  %9
static int set_up(void **state) {
    struct by_hand *t = calloc(1, sizeof *t);
    struct graph_computation computations[COMPUTATIONS] = {{.first_node = 0, .node_count = 1},
                                                           {.first_node = 1, .node_count = 2},
                                                           {.first_node = 3, .node_count = 2},
                                                           {.first_node = 5, .node_count = 5, .is_entry = true}};
    uint32_t called[4] = {2, 1, 2, 2};
    memcpy(t->computations, computations, sizeof computations);
    memcpy(t->called, called, sizeof called);
    t->nodes[6] = (struct graph_node){.first_called = 0, .called_count = 1};
    t->nodes[7] = (struct graph_node){.first_called = 1, .called_count = 1};
    t->nodes[8] = (struct graph_node){.first_called = 2, .called_count = 2};
    t->graph = (struct program_graph){.nodes = t->nodes,
                                      .node_count = NODES,
                                      .called = t->called,
                                      .called_count = 4,
                                      .computations = t->computations,
                                      .computation_count = COMPUTATIONS,
                                      .entry = COMPUTATIONS - 1};
    arena_init(&t->arena, 0);
    *state = t;
    return 0;
}

static int tear_down(void **state) {
    struct by_hand *t = *state;
    arena_free(&t->arena);
    free(t);
    return 0;
}

static void expect_walk(struct by_hand *t, const uint32_t *nodes, uint32_t count) {
    assert_true(graph_walk_make(&t->graph, &t->arena));
    assert_int_equal(t->graph.walk.count, count);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(t->graph.walk.nodes[i], nodes[i]);
}

static void bodies_stand_where_they_are_called_first(void **state) {
    expect_walk(*state, (uint32_t[]){5, 6, 3, 4, 6, 7, 1, 2, 7, 8, 8, 9, 0}, 13);
}

static void what_calls_itself_is_walked_once(void **state) {
    struct by_hand *t = *state;
    t->nodes[4] = (struct graph_node){.first_called = 0, .called_count = 1};  // computation 2, in its own body
    expect_walk(t, (uint32_t[]){5, 6, 3, 4, 4, 6, 7, 1, 2, 7, 8, 8, 9, 0}, 14);
}

static void without_an_entry_computations_come_as_they_are(void **state) {
    struct by_hand *t = *state;
    t->graph.entry = HLO_NONE;
    t->called[1] = HLO_NONE;
    expect_walk(t, (uint32_t[]){0, 1, 2, 3, 4, 5, 6, 6, 7, 7, 8, 8, 9}, 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_stand_where_they_are_called_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_calls_itself_is_walked_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_an_entry_computations_come_as_they_are, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
