// Two graphs of one plane become one: contexts by what they are called, nodes one after the other.
#include "analysis/profile/steps/step_graph.h"

static bool append_items(struct growing_block *to, size_t *count, const struct growing_block *from, size_t more,
                         size_t size) {
    if (more == 0) return true;
    if (!large_block_reserve(to, (*count + more) * size)) return false;
    memcpy((char *)to->data + *count * size, from->data, more * size);
    *count += more;
    return true;
}

static uint32_t shifted(uint32_t node, uint32_t first_node) {
    return node == STEP_NODE_NONE ? node : node + first_node;
}

static void shift_nodes(struct step_node *nodes, uint32_t count, uint32_t first_node, const uint32_t *context) {
    for (uint32_t i = 0; i < count; i++) {
        nodes[i].subtree_end += first_node;
        nodes[i].next_consumer = shifted(nodes[i].next_consumer, first_node);
        if (nodes[i].produces != CONTEXT_NONE) nodes[i].produces = context[nodes[i].produces];
    }
}

// The consumers of `more` stand before those that `link` has.
static void join_link(struct step_node *nodes, struct step_link *link, const struct step_link *more,
                      uint32_t first_node) {
    link->producer_count += more->producer_count;
    link->consumer_count += more->consumer_count;
    if (more->last_producer != STEP_NODE_NONE) link->last_producer = more->last_producer + first_node;
    if (more->first_consumer == STEP_NODE_NONE) return;
    uint32_t last = more->first_consumer + first_node;
    while (nodes[last].next_consumer != STEP_NODE_NONE) last = nodes[last].next_consumer;
    nodes[last].next_consumer = link->first_consumer;
    link->first_consumer = more->first_consumer + first_node;
}

static bool append_nodes(struct step_graph *graph, const struct step_graph *lines, const uint32_t *context,
                         uint32_t first_node) {
    size_t count = graph->node_count;
    if ((uint64_t)count + lines->node_count >= STEP_NODE_NONE) return false;
    if (!append_items(&graph->nodes, &count, &lines->nodes, lines->node_count, sizeof(struct step_node))) return false;
    if (!step_graph_link_contexts(graph)) return false;
    struct step_node *nodes = graph->nodes.data;
    const struct step_link *more = lines->links.data;
    if (lines->node_count) shift_nodes(nodes + first_node, lines->node_count, first_node, context);
    for (uint32_t i = 0; i < lines->link_count; i++)
        join_link(nodes, (struct step_link *)graph->links.data + context[i], &more[i], first_node);
    graph->node_count = (uint32_t)count;
    return true;
}

static bool append_the_rest(struct step_graph *graph, const struct step_graph *lines, uint32_t first_node) {
    size_t roots = graph->root_count, executors = graph->executor_count;
    if (!append_items(&graph->roots, &graph->root_count, &lines->roots, lines->root_count, sizeof(struct step_root)) ||
        !append_items(&graph->executors, &graph->executor_count, &lines->executors, lines->executor_count,
                      sizeof(struct step_executor)) ||
        !append_items(&graph->pipelines, &graph->pipeline_count, &lines->pipelines, lines->pipeline_count,
                      sizeof(uint64_t)))
        return false;
    for (size_t i = roots; i < graph->root_count; i++) ((struct step_root *)graph->roots.data)[i].node += first_node;
    for (size_t i = executors; i < graph->executor_count; i++)
        ((struct step_executor *)graph->executors.data)[i].node += first_node;
    return true;
}

bool step_graph_append(struct step_graph *graph, const struct step_graph *lines, uint32_t *first_node) {
    struct growing_block map = {0};
    *first_node = graph->node_count;
    graph->has_loops |= lines->has_loops;
    bool ok = large_block_reserve(&map, ((size_t)lines->contexts.count + 1) * sizeof(uint32_t)) &&
              context_table_join(&graph->contexts, &lines->contexts, map.data) &&
              append_nodes(graph, lines, map.data, *first_node) && append_the_rest(graph, lines, *first_node);
    large_block_release(&map);
    return ok;
}
