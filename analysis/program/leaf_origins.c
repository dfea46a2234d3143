#include "analysis/program/leaf_origins.h"

#include "analysis/program/leaf_links.h"

enum { WORK_MAX = 1 << 28 };

struct search {
    const struct program_graph *graph;
    struct leaf_origins *origins;
    uint8_t way;    // of this search
    uint8_t links;  // of this round: what was found in the rounds before may be handed on
    uint32_t work;
    bool has_found;
};

static bool is_spent(struct search *s, uint32_t work) {
    s->work = s->work > WORK_MAX - work ? WORK_MAX : s->work + work;
    return s->work == WORK_MAX;
}

static bool is_entry_parameter(const struct program_graph *graph, uint32_t node) {
    return graph->nodes[node].opcode == OPCODE_PARAMETER && graph->nodes[node].computation == graph->entry;
}

// Found in an earlier round, or by the search before this one.
static bool is_known(const struct search *s, const struct leaf_origin *origin) {
    return origin->way != ORIGIN_NONE && (origin->way != s->way || origin->links < s->links);
}

// What was found in this round may still give way to an operation that tells more than a parameter.
static bool is_better(const struct search *s, const struct leaf_origin *now, const struct leaf_origin *offer) {
    if (now->way == ORIGIN_NONE) return true;
    return !is_known(s, now) && is_entry_parameter(s->graph, now->node) && !is_entry_parameter(s->graph, offer->node);
}

static void offer(struct search *s, uint32_t leaf, const struct leaf_origin *from) {
    struct leaf_origin *to = &s->origins->of_leaf[leaf];
    if (!is_known(s, from) || !is_better(s, to, from)) return;
    *to = (struct leaf_origin){from->node, s->way, s->links};
    struct leaf_origin *whole = &s->origins->of_node[s->graph->node_of_leaf[leaf]];
    if (is_better(s, whole, to)) *whole = *to;
    s->has_found = true;
}

// --- From operands ---

static void hand_on(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct search *s = context;
    if (is_spent(s, count)) return;
    for (uint32_t i = 0; i < count; i++) offer(s, first_to + i, &s->origins->of_leaf[first_from + i]);
}

static void ask_operands(struct search *s, uint32_t index) {
    const struct graph_node *node = &s->graph->nodes[index];
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(s->graph, node, i);
        if (operand == HLO_NONE || is_spent(s, 1 + node->leaf_count)) continue;
        struct leaf_origin from = s->origins->of_node[operand];
        for (uint32_t l = 0; l < node->leaf_count; l++) offer(s, node->first_leaf + l, &from);
    }
}

static void ask_upwards(struct search *s, uint32_t index) {
    bool hands_on = leaf_links_visit(s->graph, index, hand_on, s);
    if (!hands_on || s->graph->nodes[index].opcode == OPCODE_ASYNC_START) ask_operands(s, index);
}

// --- From users ---

static void hand_back(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    struct search *s = context;
    if (is_spent(s, count)) return;
    for (uint32_t i = 0; i < count; i++) offer(s, first_from + i, &s->origins->of_leaf[first_to + i]);
}

static void tell_operands(struct search *s, uint32_t index) {
    const struct graph_node *node = &s->graph->nodes[index];
    struct leaf_origin from = s->origins->of_node[index];
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(s->graph, node, i);
        if (operand == HLO_NONE || is_spent(s, 1 + s->graph->nodes[operand].leaf_count)) continue;
        for (uint32_t l = 0; l < s->graph->nodes[operand].leaf_count; l++)
            offer(s, s->graph->nodes[operand].first_leaf + l, &from);
    }
}

static void ask_downwards(struct search *s, uint32_t index) {
    bool hands_on = leaf_links_visit(s->graph, index, hand_back, s);
    if (!hands_on || s->graph->nodes[index].opcode == OPCODE_FUSION) tell_operands(s, index);
}

// --- The whole ---

static void search(struct search *s, enum leaf_origin_way way, void (*ask)(struct search *, uint32_t)) {
    s->way = (uint8_t)way;
    s->has_found = true;
    for (s->links = 1; s->links <= LEAF_ORIGIN_LINKS_MAX && s->has_found; s->links++) {
        s->has_found = false;
        for (uint32_t i = 0; i < s->graph->node_count && s->work < WORK_MAX; i++) ask(s, i);
    }
}

static void begin(const struct program_graph *graph, const uint8_t *is_told, struct leaf_origins *origins) {
    for (uint32_t i = 0; i < graph->node_count; i++) {
        struct leaf_origin own = {HLO_NONE, ORIGIN_NONE, 0};
        if (is_told[i]) own = (struct leaf_origin){i, ORIGIN_OWN, 0};
        origins->of_node[i] = own;
        for (uint32_t l = 0; l < graph->nodes[i].leaf_count; l++)
            origins->of_leaf[graph->nodes[i].first_leaf + l] = own;
    }
}

bool leaf_origins_find(const struct program_graph *graph, const uint8_t *is_told, struct arena *arena,
                       struct leaf_origins *origins) {
    struct search s = {.graph = graph, .origins = origins};
    origins->of_leaf = arena_push_raw(arena, graph->leaf_count, sizeof *origins->of_leaf);
    origins->of_node = arena_push_raw(arena, graph->node_count, sizeof *origins->of_node);
    if (!origins->of_leaf || !origins->of_node) return false;
    begin(graph, is_told, origins);
    search(&s, ORIGIN_OPERAND, ask_upwards);
    search(&s, ORIGIN_USER, ask_downwards);
    return true;
}
