#include "analysis/advice/given_data.h"

#include "analysis/advice/fetched.h"
#include "analysis/advice/type_flow.h"
#include "analysis/program/leaf_links.h"

enum state { OTHER, GIVEN, INPUT };  // INPUT: given, whatever is made of it

struct given {
    const struct dimension_flow *flow;
    uint8_t *state;  // of each leaf: GIVEN until anything else is seen to come to it, or to be made of it in its place
    bool has_changed;
};

static void take_back(struct given *given, uint32_t leaf) {
    given->has_changed |= given->state[leaf] == GIVEN;
    if (given->state[leaf] == GIVEN) given->state[leaf] = OTHER;
}

static void hand_on(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct given *given = context;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = first_from + i, to = first_to + i;
        if (given->state[from] == OTHER) take_back(given, to);
        if (given->state[to] == OTHER) take_back(given, from);
    }
}

static bool is_compilers_copy(const struct graph_node *node) {
    enum opcode opcode = node->opcode;
    return opcode == OPCODE_COPY || opcode == OPCODE_COPY_START || opcode == OPCODE_COPY_DONE ||
           opcode == OPCODE_BITCAST || (opcode == OPCODE_CONVERT && !type_flow_is_users_conversion(node));
}

static uint32_t only_leaf(const struct program_graph *graph, uint32_t node) {
    return node != HLO_NONE && graph->nodes[node].leaf_count > 0 ? graph->nodes[node].first_leaf : HLO_NONE;
}

static uint32_t copied(const struct program_graph *graph, const struct graph_node *node) {
    if (node->opcode == OPCODE_CUSTOM_CALL) return fetched_from(graph, node);
    uint32_t from = is_compilers_copy(node) ? only_leaf(graph, graph_operand(graph, node, 0)) : HLO_NONE;
    bool is_same = from != HLO_NONE && node->leaf_count > 0 &&
                   array_same_dimensions(&graph->leaves[from], &graph->leaves[node->first_leaf]);
    return is_same ? from : HLO_NONE;
}

// Does it write into an operand where that lies?
static bool is_update(const struct program_graph *graph, uint32_t index) {
    const struct graph_node *node = &graph->nodes[index];
    bool is_fusion = node->opcode == OPCODE_FUSION && node->called_count > 0;
    uint32_t called = is_fusion ? graph->called[node->first_called] : HLO_NONE;
    uint32_t root = called == HLO_NONE ? index : graph->computations[called].root;
    return root != HLO_NONE && graph->nodes[root].opcode == OPCODE_DYNAMIC_UPDATE_SLICE;
}

// A copy that a later operation writes into is that operation's own: of given data it takes no more than the chip's
// part (key and value caches that a step goes on with).
static void own_updated(struct given *given) {
    const struct program_graph *graph = given->flow->graph;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        uint32_t made = only_leaf(graph, i);
        if (made == HLO_NONE || !is_update(graph, i)) continue;
        for (uint32_t k = 0; k < graph->nodes[i].operand_count; k++) {
            uint32_t from = graph_operand(graph, &graph->nodes[i], k), leaf = only_leaf(graph, from);
            bool is_copy = leaf != HLO_NONE && graph->nodes[from].opcode == OPCODE_COPY;
            if (is_copy && array_same_dimensions(&graph->leaves[leaf], &graph->leaves[made])) take_back(given, leaf);
        }
    }
}

static void visit(struct given *given, uint32_t index) {
    const struct program_graph *graph = given->flow->graph;
    const struct graph_node *node = &graph->nodes[index];
    if (node->opcode == OPCODE_PARAMETER || leaf_links_visit(graph, index, hand_on, given)) return;
    uint32_t from = copied(graph, node);
    if (from != HLO_NONE) hand_on(given, from, node->first_leaf, 1);
    for (uint32_t i = from != HLO_NONE ? 1 : 0; i < node->leaf_count; i++) take_back(given, node->first_leaf + i);
}

static void begin(struct given *given) {
    const struct program_graph *graph = given->flow->graph;
    memset(given->state, GIVEN, graph->leaf_count);
    for (uint32_t leaf = 0; leaf < graph->leaf_count; leaf++) {
        const struct graph_node *node = &graph->nodes[graph->node_of_leaf[leaf]];
        bool is_input = node->opcode == OPCODE_PARAMETER && node->computation == graph->entry;
        bool is_given = given->flow->is_blocked[leaf] && !given->flow->marks[leaf];
        if (is_input) given->state[leaf] = is_given ? INPUT : OTHER;
    }
}

// From all arrays down to those that nothing else comes to: a loop's own takes itself for granted.
static bool narrow(struct given *given) {
    const struct graph_walk *walk = &given->flow->graph->walk;
    given->has_changed = true;
    for (int pass = 0; pass < FLOW_PASSES_MAX && given->has_changed; pass++) {
        given->has_changed = false;
        for (uint32_t i = 0; i < walk->count; i++) visit(given, walk->nodes[pass % 2 ? i : walk->count - 1 - i]);
    }
    return !given->has_changed;
}

bool given_data_block(struct dimension_flow *flow, struct arena *arena) {
    struct given given = {.flow = flow, .state = arena_push_raw(arena, flow->graph->leaf_count, 1)};
    if (!given.state) return flow->graph->leaf_count == 0;
    begin(&given);
    own_updated(&given);
    if (!narrow(&given)) return true;
    for (uint32_t leaf = 0; leaf < flow->graph->leaf_count; leaf++) {
        bool is_outside = flow->graph->nodes[flow->graph->node_of_leaf[leaf]].computation == flow->graph->entry;
        flow->is_blocked[leaf] |= is_outside && given.state[leaf] != OTHER;
    }
    return true;
}
