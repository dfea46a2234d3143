#include "tests/unit/graph_by_hand.h"

#include "tests/unit/cmocka_all.h"

int hand_set_up(void **state) {
    struct graph_by_hand *t = calloc(1, sizeof *t);
    t->entry = (struct graph_computation){.is_entry = true, .root = HLO_NONE};
    arena_init(&t->arena, 0);
    t->graph = (struct program_graph){.nodes = t->nodes,
                                      .operands = t->operands,
                                      .leaves = t->leaves,
                                      .node_of_leaf = t->node_of_leaf,
                                      .computations = &t->entry,
                                      .computation_count = 1,
                                      .walk = {.nodes = t->walk}};
    *state = t;
    return 0;
}

int hand_tear_down(void **state) {
    struct graph_by_hand *t = *state;
    for (int i = 0; i < NODES_MAX; i++) wire_build_free(&t->messages[i]);
    arena_free(&t->arena);
    free(t);
    return 0;
}

void hand_check(const struct graph_by_hand *t, uint32_t leaf, unsigned marks) {
    assert_int_equal(t->flow.marks[leaf], marks);
}

static struct array_shape shape_of(struct dimensions dimensions) {
    struct array_shape shape = {.rank = (uint8_t)dimensions.rank, .element_type = 11, .element_bits = 32};
    for (int d = 0; d < dimensions.rank; d++) {
        shape.dimensions[d] = dimensions.sizes[d];
        shape.minor_to_major[d] = (uint8_t)(dimensions.rank - 1 - d);
    }
    return shape;
}

uint32_t hand_add_leaf(struct graph_by_hand *t, struct dimensions dimensions) {
    assert_true(t->graph.leaf_count < LEAVES_MAX);
    t->leaves[t->graph.leaf_count] = shape_of(dimensions);
    t->node_of_leaf[t->graph.leaf_count] = t->graph.node_count - 1;
    t->nodes[t->graph.node_count - 1].leaf_count++;
    return t->graph.leaf_count++;
}

uint32_t hand_add(struct graph_by_hand *t, enum opcode opcode, struct dimensions dimensions, int count,
                  const uint32_t *operands) {
    assert_true(t->graph.node_count < NODES_MAX);
    struct graph_node *node = &t->nodes[t->graph.node_count++];
    t->entry.node_count = t->graph.node_count;
    t->walk[t->graph.walk.count++] = t->graph.node_count - 1;
    *node = (struct graph_node){.opcode = opcode,
                                .first_leaf = t->graph.leaf_count,
                                .first_operand = t->graph.operand_count,
                                .operand_count = (uint32_t)count};
    for (int i = 0; i < count; i++) t->operands[t->graph.operand_count++] = t->node_of_leaf[operands[i]];
    return hand_add_leaf(t, dimensions);
}

uint32_t hand_parameter(struct graph_by_hand *t, struct dimensions dimensions) {
    return hand_add(t, OPCODE_PARAMETER, dimensions, 0, NULL);
}

static struct wire_build *last_message(struct graph_by_hand *t) {
    return &t->messages[t->graph.node_count - 1];
}

static void take_message(struct graph_by_hand *t) {
    t->nodes[t->graph.node_count - 1].message = wire_build_view(last_message(t));
}

void hand_text(struct graph_by_hand *t, uint32_t field, const char *value) {
    wire_build_text(last_message(t), field, value);
    take_message(t);
}

void hand_varint(struct graph_by_hand *t, uint32_t field, uint64_t value) {
    wire_build_varint(last_message(t), field, value);
    take_message(t);
}

void hand_message(struct graph_by_hand *t, uint32_t field, struct wire_build *value) {
    wire_build_message(last_message(t), field, value);
    take_message(t);
}
