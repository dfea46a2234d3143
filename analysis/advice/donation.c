#include "analysis/advice/donation.h"

struct finder {
    const struct program_graph *graph;
    const struct phases *phases;
};

static bool is_copying(enum opcode opcode) {
    return opcode == OPCODE_COPY || opcode == OPCODE_COPY_DONE || opcode == OPCODE_COPY_START ||
           opcode == OPCODE_BITCAST;
}

// The node that makes an output, before it is copied; HLO_NONE where the program returns no tuple.
static uint32_t maker_of(const struct program_graph *graph, uint32_t output) {
    enum { COPIES_MAX = 8 };
    uint32_t last = graph->entry == HLO_NONE ? HLO_NONE : graph->computations[graph->entry].root;
    if (last == HLO_NONE || graph->nodes[last].opcode != OPCODE_TUPLE) return HLO_NONE;
    uint32_t maker = graph_operand(graph, &graph->nodes[last], output);
    for (int i = 0; i < COPIES_MAX && maker != HLO_NONE && is_copying(graph->nodes[maker].opcode); i++)
        maker = graph_operand(graph, &graph->nodes[maker], 0);
    return maker;
}

// What it is an element of; else itself.
static uint32_t whole_of(const struct program_graph *graph, uint32_t node) {
    const struct graph_node *element = &graph->nodes[node];
    uint32_t whole = element->opcode == OPCODE_GET_TUPLE_ELEMENT ? graph_operand(graph, element, 0) : node;
    return whole == HLO_NONE ? node : whole;
}

static bool is_copy_of(const struct finder *f, uint32_t node, const struct entry_input *input) {
    return node != HLO_NONE && f->phases->source[node] == f->graph->node_of_leaf[input->leaf];
}

// A loop that scans an array and stacks its result reads the one while it writes the other: donating makes no place for
// both in one.
static bool is_copied_by_loop(const struct finder *f, const struct entry_input *input, uint32_t maker) {
    const struct program_graph *graph = f->graph;
    uint32_t loop = whole_of(graph, maker);
    if (loop == maker || graph->nodes[loop].opcode != OPCODE_WHILE) return false;
    uint32_t start = graph_operand(graph, &graph->nodes[loop], 0);
    if (start == HLO_NONE || graph->nodes[start].opcode != OPCODE_TUPLE) return false;
    for (uint32_t i = 0; i < graph->nodes[start].operand_count; i++) {
        bool is_input = is_copy_of(f, graph_operand(graph, &graph->nodes[start], i), input);
        if (is_input && (int64_t)i != graph->nodes[maker].number) return true;
    }
    return false;
}

static bool is_in_another_order(const struct array_shape *a, const struct array_shape *b) {
    for (int d = 0; d < a->rank && a->rank == b->rank; d++) {
        if (a->minor_to_major[d] != b->minor_to_major[d]) return true;
    }
    return false;
}

// Rows are scattered into a copy whose dimensions lie in another order, and copied back: once the copy back has the
// input's place it comes at the end, and the copies of all caches wait for it.
static bool is_turned(const struct finder *f, const struct entry_input *input, uint32_t maker) {
    const struct graph_node *node = &f->graph->nodes[maker];
    return bytes_equal(op_name_primitive(node->op_name), BYTES("scatter")) && node->leaf_count == 1 &&
           is_copy_of(f, graph_operand(f->graph, node, 0), input) &&
           is_in_another_order(&f->graph->leaves[node->first_leaf], &f->graph->leaves[input->leaf]);
}

// Made by the backward pass, and not of the input itself, as an update is.
static bool is_gradient(const struct finder *f, const struct entry_input *input, uint32_t maker) {
    const struct program_graph *graph = f->graph;
    uint32_t whole = whole_of(graph, maker);
    const struct graph_node *node = &graph->nodes[whole];
    if (f->phases->of_node[whole] != PHASE_BACKWARD) return false;
    for (uint32_t i = 0; node->opcode != OPCODE_WHILE && i < node->operand_count; i++) {
        if (is_copy_of(f, graph_operand(graph, node, i), input)) return false;
    }
    return true;
}

static enum donation donation_of(const struct finder *f, const struct entry_input *input) {
    if (input->is_donated) return DONATION_IS_DONE;
    if (input->mirror == HLO_NONE || input->leaf == HLO_NONE) return DONATION_NOTHING;
    uint32_t maker = maker_of(f->graph, input->mirror);
    if (maker == HLO_NONE) return DONATION_FREES;
    if (is_copied_by_loop(f, input, maker)) return DONATION_COPIED_BY_LOOP;
    if (is_turned(f, input, maker)) return DONATION_TURNED;
    return is_gradient(f, input, maker) ? DONATION_OF_GRADIENT : DONATION_FREES;
}

uint8_t *donations_find(const struct program_graph *graph, const struct program_roles *roles,
                        const struct phases *phases, struct arena *arena) {
    const struct finder finder = {graph, phases};
    uint8_t *donations = arena_new(arena, uint8_t, roles->input_count + 1);
    for (uint32_t i = 0; donations && i < roles->input_count; i++)
        donations[i] = (uint8_t)donation_of(&finder, &roles->inputs[i]);
    return donations;
}
