#include "analysis/profile/steps/step_reach.h"

#include <string.h>

enum { TOO_MANY_PARTNERS = 64 };  // ConnectContextGroups

bool step_reach_init(struct step_reach *reach, const struct step_graph *graph) {
    *reach = (struct step_reach){.graph = graph};
    size_t labels = ((size_t)graph->node_count + 1) * sizeof *reach->label;
    if (!large_block_reserve(&reach->memory, labels + graph->link_count + 1)) return false;
    reach->label = reach->memory.data;
    reach->is_context_done = (uint8_t *)reach->memory.data + labels;
    step_reach_forget(reach);
    return true;
}

void step_reach_release(struct step_reach *reach) {
    large_block_release(&reach->memory);
    large_block_release(&reach->waiting);
}

void step_reach_forget(struct step_reach *reach) {
    memset(reach->label, 0xff, reach->graph->node_count * sizeof *reach->label);
    memset(reach->is_context_done, 0, reach->graph->link_count);
}

static bool connects(const struct step_link *link, uint32_t producer) {
    if (link->last_producer != STEP_NODE_NONE && link->last_producer != producer) return false;
    return link->producer_count < TOO_MANY_PARTNERS || link->consumer_count < TOO_MANY_PARTNERS;
}

static bool wait_for(struct step_reach *reach, uint32_t context) {
    if (!large_block_reserve(&reach->waiting, (reach->waiting_count + 1) * sizeof context)) return false;
    ((uint32_t *)reach->waiting.data)[reach->waiting_count++] = context;
    return true;
}

static bool follow(struct step_reach *reach, uint32_t node) {
    const struct step_node *nodes = reach->graph->nodes.data;
    const struct step_link *links = reach->graph->links.data;
    uint32_t context = nodes[node].produces;
    if (context == CONTEXT_NONE || reach->is_context_done[context] || !connects(&links[context], node)) return true;
    reach->is_context_done[context] = 1;
    return links[context].first_consumer == STEP_NODE_NONE || wait_for(reach, context);
}

static bool sweep(struct step_reach *reach, uint32_t from, uint32_t end, int32_t label) {
    const struct step_node *nodes = reach->graph->nodes.data;
    for (uint32_t at = from; at < end;) {
        if (reach->label[at] >= 0) {
            at = nodes[at].subtree_end;
            continue;
        }
        reach->label[at] = label;
        if (!follow(reach, at)) return false;
        at++;
    }
    return true;
}

static bool sweep_consumers(struct step_reach *reach, uint32_t context, int32_t label) {
    const struct step_node *nodes = reach->graph->nodes.data;
    const struct step_link *links = reach->graph->links.data;
    for (uint32_t at = links[context].first_consumer; at != STEP_NODE_NONE; at = nodes[at].next_consumer) {
        if (reach->label[at] < 0 && !sweep(reach, at, nodes[at].subtree_end, label)) return false;
    }
    return true;
}

static bool finish(struct step_reach *reach, int32_t label) {
    while (reach->waiting_count) {
        uint32_t context = ((uint32_t *)reach->waiting.data)[--reach->waiting_count];
        if (!sweep_consumers(reach, context, label)) return false;
    }
    return true;
}

bool step_reach_from(struct step_reach *reach, uint32_t start, int32_t label) {
    const struct step_node *nodes = reach->graph->nodes.data;
    return sweep(reach, start, nodes[start].subtree_end, label) && finish(reach, label);
}

bool step_reach_below(struct step_reach *reach, uint32_t start, int32_t label) {
    const struct step_node *nodes = reach->graph->nodes.data;
    return follow(reach, start) && sweep(reach, start + 1, nodes[start].subtree_end, label) && finish(reach, label);
}
