#include "analysis/program/graph_walk.h"

struct place {
    uint32_t computation;
    uint32_t node;    // of it, counted from its first
    uint32_t called;  // of that node, counted from its first: where to go on when a body was walked
};

struct walker {
    const struct program_graph *graph;
    struct graph_walk *walk;
    struct place *places;  // from the outermost body to where we are; each computation is in it once at most
    uint32_t depth;
    uint8_t *is_walked;  // of each computation
};

static void enter(struct walker *w, uint32_t computation) {
    if (computation == HLO_NONE || w->is_walked[computation]) return;
    w->is_walked[computation] = 1;
    w->places[w->depth++] = (struct place){.computation = computation};
}

static void visit(struct walker *w, uint32_t node) {
    w->walk->nodes[w->walk->count++] = node;
}

// One node, or the next of what it calls; a node that calls is visited before and after.
static void step(struct walker *w) {
    struct place *place = &w->places[w->depth - 1];
    const struct graph_computation *computation = &w->graph->computations[place->computation];
    if (place->node == computation->node_count) {
        w->depth--;
        return;
    }
    uint32_t index = computation->first_node + place->node;
    const struct graph_node *node = &w->graph->nodes[index];
    if (place->called == 0 || place->called == node->called_count) visit(w, index);
    if (place->called < node->called_count) {
        enter(w, w->graph->called[node->first_called + place->called++]);
        return;
    }
    place->node++;
    place->called = 0;
}

static void walk_from(struct walker *w, uint32_t computation) {
    enter(w, computation);
    while (w->depth > 0) step(w);
}

bool graph_walk_make(struct program_graph *graph, struct arena *arena) {
    size_t nodes = graph->node_count, computations = graph->computation_count;
    graph->walk = (struct graph_walk){.nodes = arena_new(arena, uint32_t, 2 * nodes)};
    struct walker w = {.graph = graph,
                       .walk = &graph->walk,
                       .places = arena_new(arena, struct place, computations),
                       .is_walked = arena_new(arena, uint8_t, computations)};
    if (!graph->walk.nodes || !w.places || !w.is_walked) return nodes == 0 || computations == 0;
    walk_from(&w, graph->entry);
    for (uint32_t i = 0; i < graph->computation_count; i++) walk_from(&w, i);
    return true;
}
