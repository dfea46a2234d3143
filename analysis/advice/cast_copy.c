#include "analysis/advice/cast_copy.h"

#include "analysis/advice/element_counts.h"
#include "analysis/advice/live_bytes.h"
#include "analysis/advice/weight_products.h"
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
// convolution wants pictures of three channels, and its product of few rows the weight's columns in front. What a loop
// stacks of an input that was turned before it waits as long, as the turned one.
bool cast_copy_is_needless(const struct advisor *advisor, uint32_t leaf) {
    const struct array_shape *copy = &advisor->graph.leaves[leaf];
    bool has_like = false;
    if (!type_flow_is_whole_copy(&advisor->types, leaf)) return false;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t input = advisor->roles.inputs[i].leaf;
        if (!is_f32_input_like(advisor, input, copy)) continue;
        const struct array_shape *from = &advisor->graph.leaves[input];
        if (array_shape_bytes(copy) <= array_shape_bytes(from) && lies_alike(copy, from)) return true;
        has_like = true;
    }
    return !has_like && advisor->types.cast_copies[leaf] != CAST_COPY_STACKED;
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

// For each leaf: is it handed to one of the entry's loops? Loops may share a tuple. NULL at the arena's limit.
static const bool *find_given(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    bool *is_given = arena_new(advisor->arena, bool, graph->leaf_count + 1u);
    bool *is_noted = arena_new(advisor->arena, bool, graph->node_count);
    for (uint32_t i = 0; is_given && is_noted && i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        uint32_t operand = node->opcode == OPCODE_WHILE ? graph_operand(graph, node, 0) : HLO_NONE;
        if (operand == HLO_NONE || node->computation != graph->entry || is_noted[operand]) continue;
        is_noted[operand] = true;
        if (graph->nodes[operand].opcode == OPCODE_TUPLE) note_given(advisor, &graph->nodes[operand], is_given);
    }
    return is_noted ? is_given : NULL;
}

// What is multiplied with.
static struct element_counts find_multiplied(const struct advisor *advisor) {
    struct element_counts found = {.count = 0};
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (weight_product_read(advisor, i, &product) && product.weight != HLO_NONE)
            element_counts_add(&found, &advisor->graph.leaves[product.weight]);
    }
    return found;
}

struct widened {          // copies, in bytes
    int64_t of_loops;     // of weights that the user's loops are given: they wait until the loops end
    int64_t of_products;  // of others that are multiplied with: they wait for the backward pass
};

static struct widened find_widened(const struct advisor *advisor) {
    const bool *is_given = advisor->is_for_gpu ? find_given(advisor) : NULL;
    const struct element_counts multiplied = is_given ? find_multiplied(advisor) : (struct element_counts){.count = 0};
    double of_loops = 0, of_products = 0;
    for (uint32_t i = 0; is_given && i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
        bool is_wide = shape && shape->element_type == ELEMENT_TYPE_F32 && shape->rank > 1;
        if (!is_wide || array_shape_bytes(shape) <= 0 || !advisor_is_weight(advisor, i)) continue;
        if (is_given[leaf])
            of_loops += (double)array_shape_bytes(shape);
        else if (element_counts_has(&multiplied, shape))
            of_products += (double)array_shape_bytes(shape);
    }
    return (struct widened){what_if_bytes(of_loops), what_if_bytes(of_products)};
}

// The most that is live about where the step turns from forward to backward: a sixth of its events before and after.
static double most_about_turn(const struct advisor *advisor, const double *live) {
    enum { ABOUT_DIVISOR = 6 };
    uint32_t steps = advisor->what_if.replay.step_count, turn = advisor->phases.turn_step;
    uint32_t about = steps / ABOUT_DIVISOR;
    double most = 0;
    for (uint32_t step = 0; step <= steps; step++) {
        bool is_about = step + about >= turn && step <= turn + about;
        most = is_about && live[step] > most ? live[step] : most;
    }
    return most;
}

// All copies are there where the step turns, and those of loops as long as these run.
bool cast_copy_add_widened(struct advisor *advisor, struct what_if_result *stored, int64_t *added) {
    struct widened copies = find_widened(advisor);
    bool has_copies = copies.of_products && stored->sizes;
    const double *live = has_copies ? live_bytes_after_events(advisor, stored->sizes) : NULL;
    if (has_copies && !live) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for copies of weights");
    double at_turn = live ? most_about_turn(advisor, live) + (double)copies.of_products : 0;
    int64_t beyond = what_if_bytes(at_turn) - stored->temporary_bytes;
    *added = copies.of_loops + (beyond > 0 ? beyond : 0);
    what_if_add_temporary(stored, *added);
    advisor->reach.added_bytes = *added;
    return true;
}
