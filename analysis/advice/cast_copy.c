#include "analysis/advice/cast_copy.h"

#include "analysis/hlo/element_type.h"

static bool is_f32_input_like(const struct advisor *advisor, uint32_t input, const struct array_shape *copy) {
    if (input == HLO_NONE) return false;
    const struct array_shape *shape = &advisor->graph.leaves[input];
    return shape->element_type == ELEMENT_TYPE_F32 && array_same_dimensions(shape, copy);
}

static bool lies_alike(const struct array_shape *a, const struct array_shape *b) {
    for (int i = 0; i < a->rank; i++) {
        if (a->minor_to_major[i] != b->minor_to_major[i]) return false;
    }
    return true;
}

// What takes more than the float32 input, or lies otherwise, is made of a bfloat16 input as well: so a TPU's
// convolution wants pictures of three channels, and its product of few rows the weight's columns in front.
bool cast_copy_is_needless(const struct advisor *advisor, uint32_t leaf) {
    const struct array_shape *copy = &advisor->graph.leaves[leaf];
    bool has_like = false;
    if (!advisor->types.cast_copies[leaf]) return false;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t input = advisor->roles.inputs[i].leaf;
        if (!is_f32_input_like(advisor, input, copy)) continue;
        const struct array_shape *from = &advisor->graph.leaves[input];
        if (array_shape_bytes(copy) <= array_shape_bytes(from) && lies_alike(copy, from)) return true;
        has_like = true;
    }
    return !has_like;
}

// The entry's parameter that an operand is, or lies otherwise of.
static uint32_t given_by(const struct advisor *advisor, uint32_t node) {
    enum { STEPS_MAX = 8 };
    for (int i = 0; i < STEPS_MAX && node != HLO_NONE; i++) {
        const struct graph_node *at = &advisor->graph.nodes[node];
        if (at->opcode == OPCODE_PARAMETER) return at->leaf_count == 1 ? node : HLO_NONE;
        bool is_arranged = at->opcode == OPCODE_BITCAST || at->opcode == OPCODE_COPY || at->opcode == OPCODE_TRANSPOSE;
        node = is_arranged ? graph_operand(&advisor->graph, at, 0) : HLO_NONE;
    }
    return HLO_NONE;
}

static void note_given(const struct advisor *advisor, const struct graph_node *tuple, bool *is_given) {
    for (uint32_t i = 0; i < tuple->operand_count; i++) {
        uint32_t node = given_by(advisor, graph_operand(&advisor->graph, tuple, i));
        if (node != HLO_NONE) is_given[advisor->graph.nodes[node].first_leaf] = true;
    }
}

// For each leaf: is it handed to one of the entry's loops? NULL at the arena's limit.
static const bool *find_given(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    bool *is_given = arena_new(advisor->arena, bool, graph->leaf_count + 1u);
    for (uint32_t i = 0; is_given && i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        uint32_t operand = node->opcode == OPCODE_WHILE ? graph_operand(graph, node, 0) : HLO_NONE;
        if (operand == HLO_NONE || node->computation != graph->entry) continue;
        if (graph->nodes[operand].opcode == OPCODE_TUPLE) note_given(advisor, &graph->nodes[operand], is_given);
    }
    return is_given;
}

int64_t cast_copy_widened_bytes(const struct advisor *advisor) {
    const bool *is_given = advisor->is_for_gpu ? find_given(advisor) : NULL;
    double bytes = 0;
    for (uint32_t i = 0; is_given && i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
        bool is_wide = shape && shape->element_type == ELEMENT_TYPE_F32 && shape->rank > 1;
        if (is_wide && is_given[leaf] && advisor_is_weight(advisor, i)) bytes += (double)array_shape_bytes(shape);
    }
    return what_if_bytes(bytes);
}
