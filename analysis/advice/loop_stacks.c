#include "analysis/advice/loop_stacks.h"

#include "analysis/advice/loop_steps.h"

// The leaf whose value a node hands on, through copies and bitcasts: an array's own, or one of a tuple's. HLO_NONE: not
// known.
static uint32_t handed_leaf(const struct advisor *advisor, uint32_t node) {
    enum { COPIES_MAX = 8 };
    const struct program_graph *graph = &advisor->graph;
    for (int i = 0; i < COPIES_MAX && node != HLO_NONE; i++) {
        enum opcode opcode = graph->nodes[node].opcode;
        if (opcode != OPCODE_COPY && opcode != OPCODE_BITCAST) break;
        node = graph_operand(graph, &graph->nodes[node], 0);
    }
    if (node == HLO_NONE) return HLO_NONE;
    const struct graph_node *source = &graph->nodes[node];
    if (source->opcode != OPCODE_GET_TUPLE_ELEMENT) return source->leaf_count == 1 ? source->first_leaf : HLO_NONE;
    uint32_t whole = graph_operand(graph, source, 0);
    const struct graph_node *tuple = whole == HLO_NONE ? NULL : &graph->nodes[whole];
    bool is_flat = tuple && source->number >= 0 && source->number < tuple->leaf_count &&
                   tuple->elements.count == tuple->leaf_count;
    return is_flat ? tuple->first_leaf + (uint32_t)source->number : HLO_NONE;
}

struct stacks {  // of each leaf
    uint8_t *uses;
    uint32_t *mapped_by;  // the loop of the forward pass that fills it, if its turns hand on nothing; or HLO_NONE
};

static bool maps(const struct advisor *advisor, uint32_t loop) {
    int64_t length;
    return loop_steps_carried(&advisor->steps, &advisor->batch, loop, &length) == 0;
}

// The tuple that a loop takes, with as many elements as it gives on. NULL: another shape.
static const struct graph_node *given_tuple(const struct advisor *advisor, uint32_t loop) {
    const struct graph_node *node = &advisor->graph.nodes[loop];
    uint32_t given = graph_operand(&advisor->graph, node, 0);
    const struct graph_node *tuple = given == HLO_NONE ? NULL : &advisor->graph.nodes[given];
    return tuple && tuple->opcode == OPCODE_TUPLE && tuple->operand_count == node->leaf_count ? tuple : NULL;
}

static void mark_taken(const struct advisor *advisor, uint32_t loop, uint8_t use, const struct stacks *stacks) {
    const struct graph_node *given = given_tuple(advisor, loop);
    bool is_mapping = given && maps(advisor, loop);
    for (uint32_t i = 0; given && i < given->operand_count; i++) {
        uint32_t leaf = handed_leaf(advisor, graph_operand(&advisor->graph, given, i));
        if (leaf == HLO_NONE) continue;
        stacks->uses[leaf] |= use;
        if (use != STACK_FORWARD || !loop_steps_is_filled(&advisor->steps, loop, i)) continue;
        stacks->uses[leaf] |= STACK_FILLED;
        if (is_mapping) stacks->mapped_by[leaf] = loop;
    }
}

// What a loop made of `leaf`, one of those it gives on, began as: its element of the tuple that the loop takes.
static uint32_t begun_as(const struct advisor *advisor, uint32_t leaf) {
    const struct program_graph *graph = &advisor->graph;
    uint32_t loop = graph->node_of_leaf[leaf];
    const struct graph_node *given = graph->nodes[loop].opcode == OPCODE_WHILE ? given_tuple(advisor, loop) : NULL;
    uint32_t element = leaf - graph->nodes[loop].first_leaf;
    return given ? handed_leaf(advisor, graph_operand(graph, given, element)) : HLO_NONE;
}

// What a turned copy is made of, or else the leaf itself.
static uint32_t before_turning(const struct advisor *advisor, uint32_t leaf, const struct stacks *stacks) {
    const struct program_graph *graph = &advisor->graph;
    if (leaf == HLO_NONE || !(stacks->uses[leaf] & STACK_COPY)) return leaf;
    return handed_leaf(advisor, graph_operand(graph, &graph->nodes[graph->node_of_leaf[leaf]], 0));
}

// After the loops of the forward pass: a loop of the backward pass takes `node`.
static void mark_kept(const struct advisor *advisor, uint32_t node, const struct stacks *stacks) {
    uint32_t leaf = before_turning(advisor, handed_leaf(advisor, node), stacks);
    uint32_t begun = leaf == HLO_NONE ? HLO_NONE : begun_as(advisor, leaf);
    if (begun != HLO_NONE && stacks->uses[begun] & STACK_FILLED) stacks->uses[begun] |= STACK_KEPT;
}

static void mark_given(const struct advisor *advisor, uint32_t loop, const struct stacks *stacks) {
    const struct graph_node *given = given_tuple(advisor, loop);
    for (uint32_t i = 0; given && i < given->operand_count; i++)
        mark_kept(advisor, graph_operand(&advisor->graph, given, i), stacks);
}

static bool is_stack(const struct advisor *advisor, uint32_t leaf) {
    return leaf != HLO_NONE && array_is(&advisor->graph.leaves[leaf]) && advisor->batch.marks[leaf] &&
           loop_steps_is_stack(&advisor->steps, leaf);
}

// As many elements as the stack of a loop of the forward pass, and made of nothing else: with the backward pass's name,
// or with none, as the compiler's own transpositions.
static bool is_copy(const struct advisor *advisor, uint32_t node) {
    const struct graph_node *copy = &advisor->graph.nodes[node];
    bool is_made_after = advisor->phases.of_node[node] != PHASE_FORWARD && copy->leaf_count == 1 &&
                         copy->operand_count == 1;
    uint32_t from = is_made_after ? handed_leaf(advisor, graph_operand(&advisor->graph, copy, 0)) : HLO_NONE;
    if (!is_stack(advisor, from) || !advisor->batch.marks[copy->first_leaf]) return false;
    uint32_t maker = advisor->graph.node_of_leaf[from];
    return advisor->graph.nodes[maker].opcode == OPCODE_WHILE && advisor->phases.of_node[maker] == PHASE_FORWARD &&
           advisor->graph.nodes[maker].computation == copy->computation &&
           array_shape_elements(&advisor->graph.leaves[from]) ==
               array_shape_elements(&advisor->graph.leaves[copy->first_leaf]);
}

// Do several loops fill what one fusion begins?
static bool begins_for_several(const struct advisor *advisor, const struct graph_node *node,
                               const uint32_t *mapped_by) {
    uint32_t first = HLO_NONE;
    if (node->opcode != OPCODE_FUSION || !advisor->is_for_gpu) return false;
    for (uint32_t leaf = node->first_leaf; leaf < node->first_leaf + node->leaf_count; leaf++) {
        if (mapped_by[leaf] == HLO_NONE) continue;
        if (first != HLO_NONE && mapped_by[leaf] != first) return true;
        first = mapped_by[leaf];
    }
    return false;
}

static void mark_begun_together(const struct advisor *advisor, const struct stacks *stacks) {
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        if (!begins_for_several(advisor, node, stacks->mapped_by)) continue;
        for (uint32_t leaf = node->first_leaf; leaf < node->first_leaf + node->leaf_count; leaf++) {
            if (stacks->mapped_by[leaf] != HLO_NONE) stacks->uses[leaf] |= STACK_TOGETHER;
        }
    }
}

uint8_t *loop_stacks_find(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    struct stacks stacks = {arena_new(advisor->arena, uint8_t, graph->leaf_count + 1u),
                            arena_push_raw(advisor->arena, graph->leaf_count + 1u, sizeof *stacks.mapped_by)};
    if (!stacks.uses || !stacks.mapped_by) return NULL;
    for (uint32_t leaf = 0; leaf < graph->leaf_count; leaf++) stacks.mapped_by[leaf] = HLO_NONE;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        enum phase phase = (enum phase)advisor->phases.of_node[i];
        bool is_loop = graph->nodes[i].opcode == OPCODE_WHILE;
        if (is_loop && phase == PHASE_FORWARD) mark_taken(advisor, i, STACK_FORWARD, &stacks);
        if (is_loop && phase == PHASE_BACKWARD) mark_taken(advisor, i, STACK_BACKWARD, &stacks);
        if (!is_loop && is_copy(advisor, i)) stacks.uses[graph->nodes[i].first_leaf] |= STACK_COPY;
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        bool is_backward = advisor->phases.of_node[i] == PHASE_BACKWARD;
        if (is_backward && graph->nodes[i].opcode == OPCODE_WHILE) mark_given(advisor, i, &stacks);
    }
    mark_begun_together(advisor, &stacks);
    return stacks.uses;
}
