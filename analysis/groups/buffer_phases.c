#include "analysis/groups/buffer_phases.h"

#include "analysis/program/leaf_links.h"

enum { ROUNDS_MAX = 16, WORK_MAX = 1 << 28 };

const char *buffer_phase_name(enum buffer_phase phase) {
    static const char *const names[BUFFER_PHASE_COUNT] = {
        [BUFFER_UNKNOWN] = "unknown",     [BUFFER_FORWARD] = "forward", [BUFFER_SAVED] = "saved for backward",
        [BUFFER_BACKWARD] = "backward",   [BUFFER_INPUT] = "inputs",    [BUFFER_OUTPUT] = "outputs",
        [BUFFER_OPTIMIZER] = "optimizer",
    };
    return names[phase];
}

const char *buffer_phase_rule_name(enum buffer_phase_rule rule) {
    static const char *const names[] = {
        [RULE_NONE] = "",
        [RULE_CATEGORY] = "category",
        [RULE_ARGUMENT] = "argument",
        [RULE_OP_NAME] = "op_name",
        [RULE_READER] = "read_backward",
        [RULE_CLONE] = "computed_again",
        [RULE_FROM_GRADIENTS] = "from_gradients",
        [RULE_FOR_READER] = "for_its_reader",
        [RULE_NO_BACKWARD_PASS] = "no_backward_pass",
    };
    return names[rule];
}

// --- Nodes ---

static bool is_argument(const struct buffer_phases *p, uint32_t node) {
    return buffer_source_is_argument(p->sources, p->sources->names.of_node[node]);
}

// By their names: their own, else that of the operation they come from.
static void find_named(struct buffer_phases *p) {
    const struct program_graph *graph = &p->sources->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t teller = p->sources->names.of_node[i].node;
        p->of_node[i] = teller == HLO_NONE ? PHASE_OTHER : (uint8_t)op_name_phase(graph->nodes[teller].op_name);
        p->has_backward |= p->of_node[i] == PHASE_BACKWARD;
    }
}

static bool comes_from_gradients(const struct buffer_phases *p, const struct graph_node *node) {
    for (uint32_t k = 0; k < node->operand_count; k++) {
        uint32_t operand = graph_operand(&p->sources->graph, node, k);
        if (operand == HLO_NONE) continue;
        if (p->of_node[operand] == PHASE_BACKWARD || p->of_node[operand] == PHASE_OPTIMIZER) return true;
    }
    return false;
}

// Operands come before their users, but for what loops carry: the optimizer has none.
static void find_optimizer(struct buffer_phases *p) {
    const struct program_graph *graph = &p->sources->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (p->of_node[i] != PHASE_OTHER || is_argument(p, i)) continue;
        if (comes_from_gradients(p, &graph->nodes[i])) p->of_node[i] = PHASE_OPTIMIZER;
    }
}

// --- Readers ---

struct reader_search {
    struct buffer_phases *phases;
    uint32_t work;
    bool has_changed;
};

static void add_readers(struct reader_search *s, uint32_t leaf, uint8_t readers) {
    uint8_t *now = &s->phases->read_in[leaf];
    if ((*now | readers) == *now) return;
    *now |= readers;
    s->has_changed = true;
}

static bool is_spent(struct reader_search *s, uint32_t work) {
    s->work = s->work > WORK_MAX - work ? WORK_MAX : s->work + work;
    return s->work == WORK_MAX;
}

// Who reads what an array is handed on to reads the array.
static void hand_back(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct reader_search *s = context;
    if (is_spent(s, count)) return;
    for (uint32_t i = 0; i < count; i++) add_readers(s, first_from + i, s->phases->read_in[first_to + i]);
}

// What has no name of its own, a prefetch or a slice of XLA's, is read by who reads its value.
static uint8_t readers_of(const struct buffer_phases *p, uint32_t index) {
    const struct graph_node *node = &p->sources->graph.nodes[index];
    if (p->sources->names.of_node[index].way == ORIGIN_OWN && p->of_node[index] != PHASE_OTHER)
        return (uint8_t)(1u << p->of_node[index]);
    uint8_t readers = 0;
    for (uint32_t l = 0; l < node->leaf_count; l++) readers |= p->read_in[node->first_leaf + l];
    return p->of_node[index] == PHASE_OPTIMIZER ? readers | 1u << PHASE_OPTIMIZER : readers;
}

static void read_operands(struct reader_search *s, uint32_t index) {
    const struct program_graph *graph = &s->phases->sources->graph;
    const struct graph_node *node = &graph->nodes[index];
    uint8_t readers = readers_of(s->phases, index);
    for (uint32_t k = 0; k < node->operand_count; k++) {
        uint32_t operand = graph_operand(graph, node, k);
        if (operand == HLO_NONE || is_spent(s, 1 + graph->nodes[operand].leaf_count)) continue;
        for (uint32_t l = 0; l < graph->nodes[operand].leaf_count; l++)
            add_readers(s, graph->nodes[operand].first_leaf + l, readers);
    }
}

// A fusion reads as a whole: XLA computes forward operations once more inside of backward ones.
static void ask_readers(struct reader_search *s, uint32_t index) {
    bool is_fusion = s->phases->sources->graph.nodes[index].opcode == OPCODE_FUSION;
    if (is_fusion || !leaf_links_visit(&s->phases->sources->graph, index, hand_back, s)) read_operands(s, index);
}

static void find_readers(struct buffer_phases *p) {
    const struct program_graph *graph = &p->sources->graph;
    struct reader_search s = {.phases = p, .has_changed = true};
    for (int round = 0; round < ROUNDS_MAX && s.has_changed; round++) {
        s.has_changed = false;
        for (uint32_t i = graph->node_count; i-- > 0 && s.work < WORK_MAX;) ask_readers(&s, i);
    }
}

bool buffer_phases_find(const struct buffer_sources *sources, const struct heap_replay *replay, struct arena *arena,
                        struct buffer_phases *phases) {
    *phases = (struct buffer_phases){.sources = sources,
                                     .of_node = arena_push_raw(arena, sources->graph.node_count, 1),
                                     .read_in = arena_new(arena, uint8_t, sources->graph.leaf_count)};
    if (!phases->of_node || !phases->read_in || !phases_find(&sources->graph, replay, arena, &phases->phases))
        return false;
    find_named(phases);
    find_optimizer(phases);
    find_readers(phases);
    return true;
}

// --- A row ---

static bool is_clone(const struct buffer_phases *p, const struct memory_buffer *row, uint32_t node) {
    return row->start_step >= p->phases.turn_step &&
           bytes_contains(hlo_instruction_read(p->sources->graph.module, node).name, BYTES(".remat"));
}

static struct buffer_phase_told forward(const struct buffer_phases *p, const struct memory_buffer *row, uint32_t node,
                                        uint8_t readers, enum buffer_phase_rule rule) {
    if (is_clone(p, row, node)) return (struct buffer_phase_told){BUFFER_BACKWARD, RULE_CLONE, node};
    if (readers & 1u << PHASE_BACKWARD) return (struct buffer_phase_told){BUFFER_SAVED, RULE_READER, node};
    return (struct buffer_phase_told){BUFFER_FORWARD, rule, node};
}

static struct buffer_phase_told by_readers(const struct buffer_phases *p, const struct memory_buffer *row,
                                           uint32_t node, uint8_t readers) {
    if (!p->has_backward) return (struct buffer_phase_told){BUFFER_FORWARD, RULE_NO_BACKWARD_PASS, HLO_NONE};
    if (readers & 1u << PHASE_FORWARD) return forward(p, row, node, readers, RULE_FOR_READER);
    if (readers & 1u << PHASE_BACKWARD) return (struct buffer_phase_told){BUFFER_BACKWARD, RULE_FOR_READER, node};
    if (readers & 1u << PHASE_OPTIMIZER) return (struct buffer_phase_told){BUFFER_OPTIMIZER, RULE_FOR_READER, node};
    return (struct buffer_phase_told){BUFFER_UNKNOWN, RULE_NONE, HLO_NONE};
}

static struct buffer_phase_told of_computed(const struct buffer_phases *p, const struct memory_buffer *row) {
    const struct program_graph *graph = &p->sources->graph;
    struct leaf_origin origin = buffer_source_of(p->sources, &p->sources->names, row);
    uint32_t node = row->buffer == HLO_NONE ? HLO_NONE : graph->module->buffers[row->buffer].instruction;
    uint32_t leaf = row->buffer == HLO_NONE ? HLO_NONE : graph->leaf_of_buffer[row->buffer];
    uint8_t readers = leaf == HLO_NONE ? 0 : p->read_in[leaf];
    if (buffer_source_is_argument(p->sources, origin))
        return (struct buffer_phase_told){BUFFER_INPUT, RULE_ARGUMENT, origin.node};
    if (node == HLO_NONE) return (struct buffer_phase_told){BUFFER_UNKNOWN, RULE_NONE, HLO_NONE};
    enum phase named = origin.node == HLO_NONE ? PHASE_OTHER : op_name_phase(graph->nodes[origin.node].op_name);
    if (named == PHASE_FORWARD) return forward(p, row, node, readers, RULE_OP_NAME);
    if (named == PHASE_BACKWARD) return (struct buffer_phase_told){BUFFER_BACKWARD, RULE_OP_NAME, origin.node};
    if (p->of_node[node] == PHASE_OPTIMIZER)
        return (struct buffer_phase_told){BUFFER_OPTIMIZER, RULE_FROM_GRADIENTS, node};
    return by_readers(p, row, node, readers);
}

struct buffer_phase_told buffer_phase_of(const struct buffer_phases *phases, const struct memory_buffer *row) {
    switch (row->category) {
        case ALLOCATION_PARAMETER:
        case ALLOCATION_DONATED:
            return (struct buffer_phase_told){BUFFER_INPUT, RULE_CATEGORY, HLO_NONE};
        case ALLOCATION_OUTPUT:
            return (struct buffer_phase_told){BUFFER_OUTPUT, RULE_CATEGORY, HLO_NONE};
        case ALLOCATION_CONSTANT:
        case ALLOCATION_TEMPORARY:
        case ALLOCATION_THREAD_LOCAL:
        case ALLOCATION_CATEGORY_COUNT:
            break;
    }
    return of_computed(phases, row);
}
