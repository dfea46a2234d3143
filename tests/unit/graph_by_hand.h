// A program's graph made by hand, one operation after the other, for what is carried through graphs:
//
//     struct graph_by_hand *t = *state;                                        with hand_set_up and hand_tear_down
//     uint32_t x = hand_parameter(t, (struct dimensions){2, {8192, 768}});     the leaf of its array
//     uint32_t y = hand_add(t, OPCODE_COPY, (struct dimensions){2, {8192, 768}}, 1, &x);
//
// One computation, the entry; arrays of float32, the last dimension the most minor.
#pragma once

#include "analysis/advice/dimension_marks.h"
#include "analysis/base/arena.h"
#include "tests/unit/wire_build.h"

enum { NODES_MAX = 12, LEAVES_MAX = 16 };

struct graph_by_hand {
    struct graph_node nodes[NODES_MAX];
    struct wire_build messages[NODES_MAX];
    struct array_shape leaves[LEAVES_MAX];
    uint32_t operands[2 * LEAVES_MAX], node_of_leaf[LEAVES_MAX], walk[NODES_MAX];
    struct graph_computation entry;
    struct program_graph graph;
    struct arena arena;
    struct dimension_flow flow;  // the test starts it, once the graph stands
};

struct dimensions {
    int rank;
    int64_t sizes[ARRAY_RANK_MAX];
};

// For cmocka: the state is a struct graph_by_hand.
int hand_set_up(void **state);
int hand_tear_down(void **state);

// The new node's leaf. `operands` are leaves.
uint32_t hand_add(struct graph_by_hand *t, enum opcode opcode, struct dimensions dimensions, int count,
                  const uint32_t *operands);
uint32_t hand_parameter(struct graph_by_hand *t, struct dimensions dimensions);

// Another leaf of the last node.
uint32_t hand_add_leaf(struct graph_by_hand *t, struct dimensions dimensions);

// Fields of the last node's message.
void hand_text(struct graph_by_hand *t, uint32_t field, const char *value);
void hand_message(struct graph_by_hand *t, uint32_t field, struct wire_build *value);
void hand_varint(struct graph_by_hand *t, uint32_t field, uint64_t value);

// Fails where the leaf has other marks.
void hand_check(const struct graph_by_hand *t, uint32_t leaf, unsigned marks);
