#include "analysis/advice/batch_reach.h"

static bool follows(const struct advisor *advisor, uint32_t leaf) {
    return leaf != HLO_NONE && array_is(&advisor->graph.leaves[leaf]) && advisor->batch.marks[leaf];
}

static bool is_split_along(const struct advisor *advisor, const struct sharding_split *split, uint32_t leaf) {
    return dimension_flow_shared(&split->flow, &advisor->batch, leaf);
}

static bool is_product(const struct graph_node *node) {
    return node->leaf_count > 0 &&
           (node->opcode == OPCODE_DOT || node->opcode == OPCODE_CONVOLUTION || node->opcode == OPCODE_CUSTOM_CALL);
}

static double array_bytes(const struct advisor *advisor, uint32_t leaf) {
    int64_t bytes = array_shape_bytes(&advisor->graph.leaves[leaf]);
    return bytes > 0 ? (double)bytes : 0;
}

// Of one operand and the result: where one is split along the batch and the other is not, that one.
static double exchanged_at(const struct advisor *advisor, const struct sharding_split *split, uint32_t operand,
                           uint32_t result) {
    if (!follows(advisor, operand) || !follows(advisor, result)) return 0;
    bool is_split = is_split_along(advisor, split, operand);
    if (is_split == is_split_along(advisor, split, result)) return 0;
    return array_bytes(advisor, is_split ? operand : result);
}

static void add_exchanged(const struct advisor *advisor, const struct sharding_split *split,
                          struct batch_reach *reach) {
    enum { FACTORS = 2 };
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        double bytes = 0;
        for (uint32_t k = 0; is_product(node) && k < node->operand_count && k < FACTORS; k++)
            bytes += exchanged_at(advisor, split, flow_operand_leaf(&split->flow, node, k), node->first_leaf);
        reach->exchanged_bytes += bytes;
        reach->exchanged_at += bytes > 0;
    }
}

static double whole_share(const struct advisor *advisor, const struct sharding_split *split) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double all = 0, whole = 0;
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, replay->live_at_peak[i]);
        if (!follows(advisor, leaf)) continue;
        all += array_bytes(advisor, leaf);
        whole += is_split_along(advisor, split, leaf) ? 0 : array_bytes(advisor, leaf);
    }
    return all > 0 ? whole / all : 0;
}

struct batch_reach batch_reach_find(const struct advisor *advisor, const struct sharding_split *split) {
    struct batch_reach reach = {.whole_share = whole_share(advisor, split)};
    add_exchanged(advisor, split, &reach);
    return reach;
}

bool batch_reach_is_little(const struct batch_reach *reach) {
    return reach->whole_share > 0.9;
}

void batch_reach_constrain(const struct advisor *advisor, struct sharding_split *split) {
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count; leaf++) {
        if (follows(advisor, leaf)) dimension_flow_take(&split->flow, &advisor->batch, leaf);
    }
}
