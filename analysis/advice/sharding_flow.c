#include "analysis/advice/sharding_flow.h"

#include "analysis/advice/dimension_ties.h"
#include "analysis/program/callers.h"

struct stack {
    uint32_t *nodes;
    uint32_t count;
};

struct worklist {
    struct dimension_flow *flow;
    uint32_t *order;  // nodes as the program runs, loops' bodies before them
    uint32_t order_count;
    uint8_t *is_ordered;            // of each computation
    uint32_t *caller;               // of each computation (callers.h)
    uint32_t *first_user, *users;   // of node n: users[first_user[n]] to users[first_user[n + 1] - 1]
    uint8_t *is_waiting;            // of each node
    struct stack waiting, handing;  // nodes to visit, the next one at the end; those that hand on go before the others
    double work_left;
};

// --- The order ---

static void order_computation(struct worklist *list, uint32_t computation, int depth);

// Computations that a reduction or a sort applies to elements have no arrays.
static void order_called(struct worklist *list, uint32_t index, int depth) {
    const struct program_graph *graph = list->flow->graph;
    const struct graph_node *node = &graph->nodes[index];
    if (!node_is_loop_or_branch(node) && !node_hands_on(node)) return;
    for (uint32_t i = 0; i < node->called_count; i++) {
        uint32_t called = graph->called[node->first_called + i];
        if (called >= graph->computation_count || list->is_ordered[called]) continue;
        order_computation(list, called, depth + 1);
    }
}

static void order_node(struct worklist *list, uint32_t index, int depth) {
    bool is_after = node_is_loop_or_branch(&list->flow->graph->nodes[index]);
    if (!is_after) list->order[list->order_count++] = index;
    order_called(list, index, depth);
    if (is_after) list->order[list->order_count++] = index;
}

// Once, though a hostile program may call its entry.
static void order_computation(struct worklist *list, uint32_t computation, int depth) {
    enum { DEPTH_MAX = 32 };
    const struct graph_computation *c = &list->flow->graph->computations[computation];
    if (depth == DEPTH_MAX) return;
    list->is_ordered[computation] = 1;
    for (uint32_t i = 0; i < c->node_count; i++) order_node(list, c->first_node + i, depth);
}

// --- Users ---

static void count_users(const struct program_graph *graph, uint32_t *counts) {
    for (uint32_t i = 0; i < graph->operand_count; i++) {
        if (graph->operands[i] != HLO_NONE) counts[graph->operands[i]]++;
    }
}

// `first_user` has a zero for each node and one more; each is moved from the end of its users to their beginning.
static void find_users(struct worklist *list) {
    const struct program_graph *graph = list->flow->graph;
    count_users(graph, list->first_user);
    for (uint32_t n = 0; n < graph->node_count; n++) list->first_user[n + 1] += list->first_user[n];
    for (uint32_t n = graph->node_count; n-- > 0;) {
        const struct graph_node *node = &graph->nodes[n];
        for (uint32_t i = node->operand_count; i-- > 0;) {
            uint32_t operand = graph_operand(graph, node, i);
            if (operand != HLO_NONE) list->users[--list->first_user[operand]] = n;
        }
    }
}

static bool worklist_init(struct worklist *list, struct dimension_flow *flow, struct arena *arena) {
    const struct program_graph *graph = flow->graph;
    *list = (struct worklist){.flow = flow,
                              .order = arena_new(arena, uint32_t, graph->node_count),
                              .is_ordered = arena_new(arena, uint8_t, graph->computation_count),
                              .caller = callers_find(graph, arena),
                              .first_user = arena_new(arena, uint32_t, graph->node_count + 1),
                              .users = arena_new(arena, uint32_t, graph->operand_count),
                              .is_waiting = arena_new(arena, uint8_t, graph->node_count),
                              .waiting.nodes = arena_new(arena, uint32_t, graph->node_count),
                              .handing.nodes = arena_new(arena, uint32_t, graph->node_count)};
    flow->newly_marked = arena_new(arena, uint32_t, graph->leaf_count);
    return list->order && list->is_ordered && list->caller && list->first_user && list->users && list->is_waiting &&
           list->waiting.nodes && list->handing.nodes && flow->newly_marked;
}

// --- The list ---

static void push(struct worklist *list, uint32_t node) {
    if (node == HLO_NONE || list->is_waiting[node]) return;
    list->is_waiting[node] = 1;
    struct stack *stack = node_hands_on(&list->flow->graph->nodes[node]) ? &list->handing : &list->waiting;
    stack->nodes[stack->count++] = node;
}

static uint32_t pop(struct worklist *list) {
    struct stack *stack = list->handing.count ? &list->handing : &list->waiting;
    uint32_t node = stack->nodes[--stack->count];
    list->is_waiting[node] = 0;
    return node;
}

// An array of that node is split now: to be asked are who made it, who takes it, and outside who called.
static void push_neighbours(struct worklist *list, uint32_t index) {
    const struct program_graph *graph = list->flow->graph;
    const struct graph_node *node = &graph->nodes[index];
    bool is_outside = node->opcode == OPCODE_PARAMETER || graph->computations[node->computation].root == index;
    push(list, index);
    for (uint32_t i = list->first_user[index]; i < list->first_user[index + 1]; i++) push(list, list->users[i]);
    if (is_outside) push(list, list->caller[node->computation]);
    list->work_left -= list->first_user[index + 1] - list->first_user[index];
}

// To carry marks through it.
static double work_of(const struct graph_node *node) {
    return 1.0 + node->operand_count + node->leaf_count + (double)node->message.size;
}

static void visit(struct worklist *list, uint32_t index) {
    struct dimension_flow *flow = list->flow;
    const struct graph_node *node = &flow->graph->nodes[index];
    flow->newly_marked_count = 0;
    dimension_ties_apply(flow, index);
    list->work_left -= work_of(node);
    uint32_t pushed = HLO_NONE;
    for (uint32_t i = 0; i < flow->newly_marked_count && list->work_left > 0; i++) {
        uint32_t changed = flow->graph->node_of_leaf[flow->newly_marked[i]];
        if (changed != pushed) push_neighbours(list, changed);
        pushed = changed;
    }
}

static void run_level(struct worklist *list, enum flow_level level) {
    list->flow->level = level;
    for (uint32_t i = list->order_count; i-- > 0;) push(list, list->order[i]);
    while (list->waiting.count + list->handing.count && list->work_left > 0) visit(list, pop(list));
}

bool sharding_flow_run(struct dimension_flow *flow, struct arena *arena) {
    struct worklist list;
    const struct program_graph *graph = flow->graph;
    if (!worklist_init(&list, flow, arena)) return false;
    if (graph->entry != HLO_NONE) order_computation(&list, graph->entry, 0);
    find_users(&list);
    for (uint32_t i = 0; i < graph->node_count; i++) list.work_left += FLOW_PASSES_MAX * work_of(&graph->nodes[i]);
    for (int level = FLOW_ALIKE; level <= FLOW_ALL; level++) run_level(&list, (enum flow_level)level);
    flow->newly_marked = NULL;
    dimension_flow_run(flow);
    return true;
}
