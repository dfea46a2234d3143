#include "analysis/groups/phases.h"

#include "analysis/program/op_name.h"

static bool is_moving(enum opcode opcode) {
    return opcode == OPCODE_COPY || opcode == OPCODE_COPY_START || opcode == OPCODE_COPY_DONE ||
           opcode == OPCODE_BITCAST || opcode == OPCODE_GET_TUPLE_ELEMENT || opcode == OPCODE_ASYNC_START ||
           opcode == OPCODE_ASYNC_DONE || opcode == OPCODE_RESIZING || opcode == OPCODE_DYNAMIC_SLICE ||
           opcode == OPCODE_CUSTOM_CALL;
}

static uint32_t find_source(const struct program_graph *graph, uint32_t node) {
    enum { CHAIN_MAX = 64 };
    for (int i = 0; i < CHAIN_MAX && is_moving(graph->nodes[node].opcode); i++) {
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

// The step before which the forward arrays are written and after which the backward ones are: where least is on the
// wrong side, in bytes times how long they are kept, so that neither a step that was scheduled early decides nor a
// large array that is gone soon.
static uint32_t find_turn(const struct program_graph *graph, const struct heap_replay *replay, double *wrong,
                          const struct phases *phases) {
    uint32_t turn = replay->step_count;
    bool has_backward = false;
    double least = 0, sum = 0;
    for (uint32_t i = 0; i < replay->span_count; i++) {
        const struct hlo_buffer *buffer = &graph->module->buffers[replay->spans[i].buffer];
        enum phase phase = buffer->instruction == HLO_NONE ? PHASE_OTHER : phases->of_node[buffer->instruction];
        has_backward |= phase == PHASE_BACKWARD;
        if (!tells_of_turn(replay, &replay->spans[i])) continue;
        double kept = (double)buffer->size_bytes * (replay->spans[i].end_step - replay->spans[i].start_step);
        if (phase == PHASE_BACKWARD) wrong[replay->spans[i].start_step] += kept;
        if (phase == PHASE_FORWARD) wrong[replay->spans[i].start_step] -= kept;
    }
    for (uint32_t step = 0; step < replay->step_count && has_backward; step++) {
        if (sum < least || turn == replay->step_count) {
            least = sum;
            turn = step;
        }
        sum += wrong[step];
    }
    return turn;
}

// Only the type or the order of the elements of one value is another. XLA:GPU wraps what it does so in a fusion.
static bool is_rearranging(const struct program_graph *graph, const struct phases *phases, uint32_t index) {
    const struct graph_node *node = &graph->nodes[index];
    if (node->opcode == OPCODE_CONVERT || node->opcode == OPCODE_TRANSPOSE) return true;
    uint32_t operand = node->operand_count == 1 ? graph_operand(graph, node, 0) : HLO_NONE;
    if (node->opcode != OPCODE_FUSION || operand == HLO_NONE || phases->of_node[index] != PHASE_OTHER) return false;
    const struct graph_node *of = &graph->nodes[operand];
    return node->leaf_count == 1 && of->leaf_count == 1 && array_is(&graph->leaves[node->first_leaf]) &&
           array_shape_elements(&graph->leaves[node->first_leaf]) ==
               array_shape_elements(&graph->leaves[of->first_leaf]);
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

static void find_readers(const struct program_graph *graph, struct phases *phases, uint8_t *is_walked) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        if (phases->of_node[i] != PHASE_FORWARD || node->computation != graph->entry) continue;
        for (uint32_t k = 0; k < node->operand_count; k++) {
            uint32_t operand = graph_operand(graph, node, k);
            if (operand == HLO_NONE) continue;
            mark_read(graph, phases, operand);
            if (graph->nodes[operand].opcode != OPCODE_TUPLE || !is_first_walk(is_walked, operand)) continue;
            for (uint32_t l = 0; l < graph->nodes[operand].operand_count; l++) {  // what a loop gets
                mark_read(graph, phases, graph_operand(graph, &graph->nodes[operand], l));
            }
        }
    }
}

bool phases_find(const struct program_graph *graph, const struct heap_replay *replay, struct arena *arena,
                 struct phases *phases) {
    phases->of_node = arena_new(arena, uint8_t, graph->node_count);
    phases->source = arena_push_raw(arena, graph->node_count, sizeof *phases->source);
    phases->is_read_forward = arena_new(arena, uint8_t, graph->node_count);
    uint8_t *is_walked_by_loops = arena_new(arena, uint8_t, graph->node_count);
    uint8_t *is_walked_by_readers = arena_new(arena, uint8_t, graph->node_count);
    double *wrong = arena_new(arena, double, (size_t)replay->step_count + 1);
    if (!phases->of_node || !phases->source || !phases->is_read_forward || !wrong || !is_walked_by_loops ||
        !is_walked_by_readers)
        return false;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        phases->source[i] = find_source(graph, i);
        phases->of_node[i] = (uint8_t)op_name_phase(graph->nodes[phases->source[i]].op_name);
    }
    follow_loops(graph, phases, is_walked_by_loops);
    find_readers(graph, phases, is_walked_by_readers);
    phases->turn_step = find_turn(graph, replay, wrong, phases);
    return true;
}
