#include "analysis/advice/sliced_inputs.h"

#include "analysis/program/leaf_links.h"

struct finder {
    const struct advisor *advisor;
    const struct sharding_split *split;
    uint32_t *input_of;  // of each leaf: the number of the input that it is, and 1; 0: of none
    uint8_t *marks;      // of each input: how a loop has it
};

static void hand_on(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct finder *f = context;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t input = f->input_of[first_from + i];
        if (input && !f->input_of[first_to + i]) f->input_of[first_to + i] = input;
    }
}

// A hostile loop's body may declare another array than it is given.
static bool is_of_input(const struct finder *f, uint32_t input, uint32_t leaf) {
    const struct array_shape *leaves = f->advisor->graph.leaves;
    return array_same_dimensions(&leaves[f->advisor->roles.inputs[input].leaf], &leaves[leaf]);
}

// From what a loop is given to what its body has; the body's result goes on to the next turn as the body leaves it.
static void enter(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct finder *f = context;
    const struct program_graph *graph = &f->advisor->graph;
    hand_on(context, first_from, first_to, count);
    if (graph->nodes[graph->node_of_leaf[first_to]].opcode != OPCODE_PARAMETER) return;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t input = f->input_of[first_to + i];
        if (input && is_of_input(f, input - 1, first_to + i)) f->marks[input - 1] |= f->split->flow.marks[first_to + i];
    }
}

static void start(struct finder *f) {
    for (uint32_t i = 0; i < f->advisor->roles.input_count; i++) {
        uint32_t leaf = f->advisor->roles.inputs[i].leaf;
        bool is_array = leaf != HLO_NONE && array_is(&f->advisor->graph.leaves[leaf]);
        if (is_array && !sharding_is_weight(f->advisor, i)) f->input_of[leaf] = i + 1;
    }
}

// Only loops of the entry computation: what is inside of them is handed on there already.
static void follow(struct finder *f) {
    const struct program_graph *graph = &f->advisor->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        enum opcode opcode = graph->nodes[i].opcode;
        if (graph->nodes[i].computation != graph->entry) continue;
        if (opcode == OPCODE_TUPLE || opcode == OPCODE_GET_TUPLE_ELEMENT) leaf_links_visit(graph, i, hand_on, f);
        if (opcode == OPCODE_WHILE) leaf_links_visit(graph, i, enter, f);
    }
}

static int64_t part_bytes(const struct finder *f, uint32_t input) {
    const struct advisor *advisor = f->advisor;
    const struct entry_input *in = &advisor->roles.inputs[input];
    if (!f->marks[input] || in->allocation == HLO_NONE) return 0;
    const struct hlo_allocation *allocation = &advisor->module->allocations[in->allocation];
    bool is_assigned = allocation->assigned_count > 0;
    uint32_t buffer = is_assigned ? advisor->module->assigned[allocation->first_assigned].buffer : HLO_NONE;
    struct array_shape part = sharding_parts_shape(&f->split->flow, in->leaf, f->marks[input]);
    return buffer == HLO_NONE ? 0 : advisor_reshaped(advisor, buffer, &part);
}

int64_t sliced_inputs_bytes(const struct advisor *advisor, const struct sharding_split *split) {
    struct finder f = {.advisor = advisor,
                       .split = split,
                       .input_of = arena_new(advisor->arena, uint32_t, advisor->graph.leaf_count),
                       .marks = arena_new(advisor->arena, uint8_t, advisor->roles.input_count)};
    double bytes = 0;
    if (!f.input_of || !f.marks) return 0;
    start(&f);
    follow(&f);
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) bytes += (double)part_bytes(&f, i);
    return bytes > (double)advisor->what_if.fast_bytes ? what_if_bytes(bytes) : 0;
}
