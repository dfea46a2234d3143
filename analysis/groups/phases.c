#include "analysis/groups/phases.h"

#include "analysis/program/library_call.h"
#include "analysis/program/op_name.h"

#include <math.h>

// A custom call may be a copy of a TPU's compiler; what XLA:GPU asks of a library is none.
static bool is_moving(const struct graph_node *node) {
    enum opcode opcode = node->opcode;
    return opcode == OPCODE_COPY || opcode == OPCODE_COPY_START || opcode == OPCODE_COPY_DONE ||
           opcode == OPCODE_BITCAST || opcode == OPCODE_GET_TUPLE_ELEMENT || opcode == OPCODE_ASYNC_START ||
           opcode == OPCODE_ASYNC_DONE || opcode == OPCODE_RESIZING || opcode == OPCODE_DYNAMIC_SLICE ||
           (opcode == OPCODE_CUSTOM_CALL && library_call_of(node) == LIBRARY_NONE);
}

// For each node, as a custom call's message is long to look through. NULL at the arena's limit.
static const bool *find_moving(const struct program_graph *graph, struct arena *arena) {
    bool *moves = arena_new(arena, bool, graph->node_count);
    for (uint32_t i = 0; moves && i < graph->node_count; i++) moves[i] = is_moving(&graph->nodes[i]);
    return moves;
}

static uint32_t find_source(const struct program_graph *graph, const bool *moves, uint32_t node) {
    enum { CHAIN_MAX = 64 };
    for (int i = 0; i < CHAIN_MAX && moves[node]; i++) {
        uint32_t operand = graph_operand(graph, &graph->nodes[node], 0);
        if (operand == HLO_NONE) break;
        node = operand;
    }
    return node;
}

// What is gone again at once tells nothing of the turn: a loss is often computed long after its gradient. Nor does what
// the compiler computes a second time (hlo_rematerialization.cc names it so), in the backward pass.
static bool tells_of_turn(const struct heap_replay *replay, const struct heap_span *span) {
    enum { BRIEF_STEPS = 2 };
    return span->end_step - span->start_step > BRIEF_STEPS &&
           !bytes_contains(replay->instruction_names[span->start_step], BYTES(".remat"));
}

// What begins at each step, in bytes times how long they are kept, so that neither a step that was scheduled early
// decides nor a large array that is gone soon: less than nothing where that is forward arrays. False: nothing is
// backward.
static bool weigh_steps(const struct program_graph *graph, const struct heap_replay *replay,
                        const struct phases *phases, double *weights) {
    bool has_backward = false;
    for (uint32_t i = 0; i < replay->span_count; i++) {
        const struct hlo_buffer *buffer = &graph->module->buffers[replay->spans[i].buffer];
        enum phase phase = buffer->instruction == HLO_NONE ? PHASE_OTHER : phases->of_node[buffer->instruction];
        has_backward |= phase == PHASE_BACKWARD;
        if (!tells_of_turn(replay, &replay->spans[i])) continue;
        double kept = (double)buffer->size_bytes * (replay->spans[i].end_step - replay->spans[i].start_step);
        if (phase == PHASE_BACKWARD) weights[replay->spans[i].start_step] += kept;
        if (phase == PHASE_FORWARD) weights[replay->spans[i].start_step] -= kept;
    }
    return has_backward;
}

enum turn { TURNS_HERE = 1, BEGINS_AGAIN = 2 };  // bits: before a step, where it is for the best

// Stretches of forward and of backward steps by turns, so that the sum of the weights of the forward ones is least, and
// a `price` for each forward stretch but the first.
static void find_best_turns(const double *weights, uint32_t step_count, double price, uint8_t *best) {
    double forward = 0, backward = INFINITY;
    for (uint32_t step = 0; step < step_count; step++) {
        double turned = forward, again = backward + price;
        best[step] = (uint8_t)((turned < backward ? TURNS_HERE : 0) | (again < forward ? BEGINS_AGAIN : 0));
        backward = fmin(backward, turned);
        forward = fmin(forward, again) + weights[step];
    }
}

// From the end, which is backward.
static void follow_turns(const uint8_t *best, uint32_t step_count, uint32_t *next_turn) {
    uint32_t turn = UINT32_MAX;
    for (uint32_t step = step_count; step-- > 0;) {
        next_turn[step] = turn;
        if (turn != UINT32_MAX && best[step] & BEGINS_AGAIN)
            turn = UINT32_MAX;
        else if (turn == UINT32_MAX && best[step] & TURNS_HERE)
            turn = step;
    }
}

// Several gradients one after the other (of a model and its judge, or once more a step up the first) have a forward
// pass each: another one has to bring a good part of all forward arrays to the right side.
static double price_of_another(const double *weights, uint32_t step_count) {
    const double good_part = 0.1;
    double all = 0;
    for (uint32_t step = 0; step < step_count; step++) all -= fmin(weights[step], 0);
    return good_part * all;
}

static bool find_turns(const struct program_graph *graph, const struct heap_replay *replay, struct arena *arena,
                       struct phases *phases) {
    uint32_t step_count = replay->step_count;
    double *weights = arena_new(arena, double, (size_t)step_count + 1);
    uint8_t *best = arena_new(arena, uint8_t, (size_t)step_count + 1);
    phases->turn_step = step_count;
    phases->next_turn = arena_push_raw(arena, (size_t)step_count + 1, sizeof *phases->next_turn);
    if (!weights || !best || !phases->next_turn) return false;
    for (uint32_t step = 0; step <= step_count; step++) phases->next_turn[step] = step_count;
    if (step_count == 0 || !weigh_steps(graph, replay, phases, weights)) return true;
    find_best_turns(weights, step_count, INFINITY, best);
    follow_turns(best, step_count, phases->next_turn);
    phases->turn_step = phases->next_turn[0] == UINT32_MAX ? 0 : phases->next_turn[0];
    find_best_turns(weights, step_count, price_of_another(weights, step_count), best);
    follow_turns(best, step_count, phases->next_turn);
    return true;
}

static bool makes_as_many(const struct program_graph *graph, const struct graph_node *node, int64_t elements) {
    for (uint32_t l = 0; l < node->leaf_count; l++) {
        const struct array_shape *made = &graph->leaves[node->first_leaf + l];
        if (array_is(made) && array_shape_elements(made) == elements) return true;
    }
    return false;
}

// What it reads beside scalars, when that is its first operand.
static uint32_t only_array(const struct program_graph *graph, const struct graph_node *node) {
    for (uint32_t k = 1; k < node->operand_count; k++) {
        uint32_t operand = graph_operand(graph, node, k);
        const struct graph_node *other = operand == HLO_NONE ? NULL : &graph->nodes[operand];
        bool is_scalar = other && other->leaf_count == 1 && array_is(&graph->leaves[other->first_leaf]) &&
                         graph->leaves[other->first_leaf].rank == 0;
        if (!is_scalar) return HLO_NONE;
    }
    return graph_operand(graph, node, 0);
}

// Only the type or the order of the elements of one value is another. XLA:GPU wraps what it does so in a fusion; and an
// optimizer that sums the squares of weights reads them in one fusion with what makes bfloat16 of them.
static bool is_rearranging(const struct program_graph *graph, const struct phases *phases, uint32_t index) {
    const struct graph_node *node = &graph->nodes[index];
    if (node->opcode == OPCODE_CONVERT || node->opcode == OPCODE_TRANSPOSE) return true;
    enum { FEW = 64 };  // operands and results: it is asked once for each reader
    if (node->opcode != OPCODE_FUSION || phases->of_node[index] != PHASE_OTHER) return false;
    if (node->operand_count > FEW || node->leaf_count > FEW) return false;
    uint32_t operand = only_array(graph, node);
    if (operand == HLO_NONE) return false;
    const struct graph_node *of = &graph->nodes[operand];
    return of->leaf_count == 1 && makes_as_many(graph, node, array_shape_elements(&graph->leaves[of->first_leaf]));
}

// The value that is read, and what the compiler itself makes it of: weights that a loop reads in bfloat16, or that a
// convolution reads in another order.
static void mark_read(const struct program_graph *graph, struct phases *phases, uint32_t operand) {
    enum { CHAIN_MAX = 8 };
    for (int i = 0; i < CHAIN_MAX && operand != HLO_NONE; i++) {
        uint32_t source = phases->source[operand];
        phases->is_read_forward[source] = 1;
        const struct graph_node *node = &graph->nodes[source];
        operand = is_rearranging(graph, phases, source) ? graph_operand(graph, node, 0) : HLO_NONE;
    }
}

// Many loops may share one tuple, whose elements are to be walked once: is this the first time? A byte for each node.
static bool is_first_walk(uint8_t *is_walked, uint32_t tuple) {
    if (is_walked[tuple]) return false;
    is_walked[tuple] = 1;
    return true;
}

// What XLA made to begin a loop's stacks with has no name of the user's: it is of the loop's phase.
static void follow_loops(const struct program_graph *graph, struct phases *phases, uint8_t *is_walked) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *loop = &graph->nodes[i];
        uint32_t tuple = loop->opcode == OPCODE_WHILE ? graph_operand(graph, loop, 0) : HLO_NONE;
        if (tuple == HLO_NONE || phases->of_node[i] != PHASE_FORWARD || !is_first_walk(is_walked, tuple)) continue;
        for (uint32_t k = 0; k < graph->nodes[tuple].operand_count; k++) {
            uint32_t start = graph_operand(graph, &graph->nodes[tuple], k);
            uint32_t source = start == HLO_NONE ? HLO_NONE : phases->source[start];
            bool is_nameless = source != HLO_NONE && !graph->nodes[source].op_name.size;
            if (is_nameless && phases->of_node[source] == PHASE_OTHER) phases->of_node[source] = PHASE_FORWARD;
        }
    }
}

struct walked {  // each once, tuples by what reads them and by loops that are given them
    uint8_t *read_tuples, *given_tuples, *bodies;
    const bool *moves;
};

// The element of what its loop carries that a node in a body is, in another order or type perhaps; HLO_NONE: none.
static uint32_t carried_element(const struct program_graph *graph, const bool *moves, uint32_t node) {
    enum { CHAIN_MAX = 8 };
    for (int i = 0; i < CHAIN_MAX && node != HLO_NONE; i++) {
        const struct graph_node *at = &graph->nodes[node];
        uint32_t operand = graph_operand(graph, at, 0);
        bool is_of_carried = operand != HLO_NONE && graph->nodes[operand].opcode == OPCODE_PARAMETER;
        if (at->opcode == OPCODE_GET_TUPLE_ELEMENT && is_of_carried) return node;
        bool is_handed_on = moves[node] || at->opcode == OPCODE_CONVERT || at->opcode == OPCODE_TRANSPOSE;
        node = is_handed_on ? operand : HLO_NONE;
    }
    return HLO_NONE;
}

static void mark_operand(const struct program_graph *graph, struct phases *phases, const bool *moves, uint32_t reader,
                         uint32_t operand) {
    if (graph->nodes[reader].computation == graph->entry) {
        mark_read(graph, phases, operand);
        return;
    }
    uint32_t element = carried_element(graph, moves, operand);
    if (element != HLO_NONE) phases->is_read_forward[element] = 1;
}

static void mark_operands(const struct program_graph *graph, struct phases *phases, uint32_t index,
                          const struct walked *walked) {
    const struct graph_node *node = &graph->nodes[index];
    for (uint32_t k = 0; k < node->operand_count; k++) {
        uint32_t operand = graph_operand(graph, node, k);
        if (operand == HLO_NONE) continue;
        mark_operand(graph, phases, walked->moves, index, operand);
        if (graph->nodes[operand].opcode != OPCODE_TUPLE || !is_first_walk(walked->read_tuples, operand)) continue;
        for (uint32_t l = 0; l < graph->nodes[operand].operand_count; l++) {  // what a loop gets
            mark_operand(graph, phases, walked->moves, index, graph_operand(graph, &graph->nodes[operand], l));
        }
    }
}

// A loop over parts of the batch is of no phase, but what its body reads forward it was given: bodies come before. Of
// loops that share a tuple or a body the first is asked.
static void mark_given(const struct program_graph *graph, struct phases *phases, uint32_t loop,
                       const struct walked *walked) {
    const struct graph_node *node = &graph->nodes[loop];
    uint32_t given = graph_operand(graph, node, 0);
    if (given == HLO_NONE || graph->nodes[given].opcode != OPCODE_TUPLE) return;
    if (!is_first_walk(walked->given_tuples, given)) return;
    for (uint32_t i = 0; i < node->called_count; i++) {
        uint32_t body = graph->called[node->first_called + i];
        if (body >= graph->computation_count || !is_first_walk(walked->bodies, body)) continue;
        const struct graph_computation *c = &graph->computations[body];
        for (uint32_t k = 0; k < c->node_count; k++) {
            uint32_t element = c->first_node + k;
            if (!phases->is_read_forward[element] || graph->nodes[element].number < 0) continue;
            uint32_t number = (uint32_t)graph->nodes[element].number;
            uint32_t operand = graph_operand(graph, &graph->nodes[given], number);
            if (operand != HLO_NONE) mark_operand(graph, phases, walked->moves, loop, operand);
        }
    }
}

static void find_readers(const struct program_graph *graph, struct phases *phases, const struct walked *walked) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (phases->of_node[i] == PHASE_FORWARD)
            mark_operands(graph, phases, i, walked);
        else if (phases->of_node[i] == PHASE_OTHER && graph->nodes[i].opcode == OPCODE_WHILE)
            mark_given(graph, phases, i, walked);
    }
}

bool phases_find(const struct program_graph *graph, const struct heap_replay *replay, struct arena *arena,
                 struct phases *phases) {
    phases->of_node = arena_new(arena, uint8_t, graph->node_count);
    phases->source = arena_push_raw(arena, graph->node_count, sizeof *phases->source);
    phases->is_read_forward = arena_new(arena, uint8_t, graph->node_count);
    uint8_t *is_walked_by_loops = arena_new(arena, uint8_t, graph->node_count);
    const struct walked walked = {arena_new(arena, uint8_t, graph->node_count),
                                  arena_new(arena, uint8_t, graph->node_count),
                                  arena_new(arena, uint8_t, graph->computation_count), find_moving(graph, arena)};
    if (!phases->of_node || !phases->source || !phases->is_read_forward || !is_walked_by_loops || !walked.read_tuples ||
        !walked.given_tuples || !walked.bodies || !walked.moves)
        return false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        phases->source[i] = find_source(graph, walked.moves, i);
        phases->of_node[i] = (uint8_t)op_name_phase(graph->nodes[phases->source[i]].op_name);
    }
    follow_loops(graph, phases, is_walked_by_loops);
    find_readers(graph, phases, &walked);
    return find_turns(graph, replay, arena, phases);
}
