#include "analysis/advice/loop_steps.h"

#include "analysis/advice/dimension_flow.h"
#include "analysis/program/op_name.h"

// --- Bodies of loops, and what they call ---

static bool mark_called(const struct program_graph *graph, const struct graph_node *node, uint8_t *is_inside) {
    bool has_changed = false;
    for (uint32_t i = 0; i < node->called_count; i++) {
        uint32_t called = graph->called[node->first_called + i];
        if (called == HLO_NONE || is_inside[called]) continue;
        is_inside[called] = 1;
        has_changed = true;
    }
    return has_changed;
}

// Rows of a table are taken one at a time too, by numbers that are data: in a loop of the user's, or in one that the
// compiler makes of a scatter.
static bool is_of_a_table(const struct graph_node *node) {
    struct bytes made_for = op_name_primitive(node->op_name);
    return bytes_contains(made_for, BYTES("gather")) || bytes_contains(made_for, BYTES("scatter")) ||
           bytes_contains(made_for, BYTES("take"));
}

static void find_bodies(const struct program_graph *graph, uint8_t *is_inside) {
    enum { NESTED_MAX = 64 };
    bool has_changed = true;
    for (int pass = 0; pass < NESTED_MAX && has_changed; pass++) {
        has_changed = false;
        for (uint32_t i = 0; i < graph->node_count; i++) {
            const struct graph_node *node = &graph->nodes[i];
            bool is_loop = node->opcode == OPCODE_WHILE;
            if (is_loop ? !is_of_a_table(node) : is_inside[node->computation])
                has_changed |= mark_called(graph, node, is_inside);
        }
    }
}

// --- Slices of one ---

static void mark_ones(struct dimension_flow *steps, uint32_t whole, uint32_t slice) {
    if (whole == HLO_NONE || slice == HLO_NONE) return;
    const struct array_shape *from = flow_leaf(steps, whole), *to = flow_leaf(steps, slice);
    for (int d = 0; d < from->rank && from->rank == to->rank; d++) {
        if (from->dimensions[d] > 1 && to->dimensions[d] == 1) dimension_flow_mark(steps, whole, d);
    }
}

static void mark_slices(struct dimension_flow *steps, const struct graph_node *node) {
    if (node->leaf_count != 1 || is_of_a_table(node)) return;
    if (node->opcode == OPCODE_DYNAMIC_SLICE) mark_ones(steps, flow_operand_leaf(steps, node, 0), node->first_leaf);
    if (node->opcode == OPCODE_DYNAMIC_UPDATE_SLICE)
        mark_ones(steps, flow_operand_leaf(steps, node, 0), flow_operand_leaf(steps, node, 1));
}

// --- What a loop carries ---

// The computation that makes the next turn's values of this turn's: the one whose result has as many arrays.
static uint32_t body_of(const struct program_graph *graph, const struct graph_node *loop) {
    for (uint32_t i = 0; i < loop->called_count; i++) {
        uint32_t called = graph->called[loop->first_called + i];
        uint32_t root = called == HLO_NONE ? HLO_NONE : graph->computations[called].root;
        if (root != HLO_NONE && graph->nodes[root].leaf_count == loop->leaf_count) return called;
    }
    return HLO_NONE;
}

// What every turn hands on as it got it.
static bool is_unchanged(const struct program_graph *graph, uint32_t body, uint32_t element) {
    const struct graph_node *root = &graph->nodes[graph->computations[body].root];
    uint32_t from = root->opcode == OPCODE_TUPLE ? graph_operand(graph, root, element) : HLO_NONE;
    const struct graph_node *value = from == HLO_NONE ? NULL : &graph->nodes[from];
    return value && value->opcode == OPCODE_GET_TUPLE_ELEMENT && value->number == (int64_t)element &&
           graph_operand(graph, value, 0) == graph_parameter(graph, body, 0);
}

int64_t loop_steps_carried(const struct dimension_flow *steps, const struct dimension_flow *marked, uint32_t loop,
                           int64_t *length) {
    const struct program_graph *graph = steps->graph;
    const struct graph_node *node = &graph->nodes[loop];
    uint32_t body = body_of(graph, node);
    int64_t carried = 0;
    *length = 0;
    for (uint32_t i = 0; body != HLO_NONE && i < node->leaf_count; i++) {
        uint32_t leaf = node->first_leaf + i;
        int64_t bytes = marked->marks[leaf] ? array_shape_bytes(&graph->leaves[leaf]) : 0;
        bool is_stack = loop_steps_is_stack(steps, leaf);
        if (bytes <= 0) continue;
        if (is_stack && graph->leaves[leaf].dimensions[0] > *length) *length = graph->leaves[leaf].dimensions[0];
        if (!is_stack && !is_unchanged(graph, body, i) && carried < INT64_MAX - bytes) carried += bytes;
    }
    return carried;
}

static bool is_filled(const struct dimension_flow *steps, const struct graph_node *loop, uint32_t body,
                      uint32_t element) {
    return loop_steps_is_stack(steps, loop->first_leaf + element) && !is_unchanged(steps->graph, body, element);
}

bool loop_steps_is_filled(const struct dimension_flow *steps, uint32_t loop, uint32_t element) {
    const struct graph_node *node = &steps->graph->nodes[loop];
    uint32_t body = body_of(steps->graph, node);
    return body != HLO_NONE && element < node->leaf_count && is_filled(steps, node, body, element);
}

static bool is_stacking(const struct dimension_flow *steps, const struct dimension_flow *batch,
                        const struct graph_node *node) {
    uint32_t body = node->opcode == OPCODE_WHILE ? body_of(steps->graph, node) : HLO_NONE;
    for (uint32_t i = 0; body != HLO_NONE && i < node->leaf_count; i++) {
        if (batch->marks[node->first_leaf + i] && is_filled(steps, node, body, i)) return true;
    }
    return false;
}

uint8_t *loop_steps_stacking(const struct dimension_flow *steps, const struct dimension_flow *batch,
                             struct arena *arena) {
    uint8_t *found = arena_new(arena, uint8_t, steps->graph->node_count);
    for (uint32_t i = 0; found && i < steps->graph->node_count; i++)
        found[i] = is_stacking(steps, batch, &steps->graph->nodes[i]);
    return found;
}

// --- All of a program ---

bool loop_steps_find(const struct program_graph *graph, struct arena *arena, struct dimension_flow *steps) {
    uint8_t *is_inside = arena_new(arena, uint8_t, graph->computation_count);
    if (!is_inside || !dimension_flow_init(steps, graph, arena)) return false;
    find_bodies(graph, is_inside);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (is_inside[graph->nodes[i].computation]) mark_slices(steps, &graph->nodes[i]);
    }
    dimension_flow_run(steps);
    return true;
}
