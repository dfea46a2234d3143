#include "analysis/advice/block_doubts.h"

#include "analysis/advice/layer_count.h"
#include "analysis/advice/loop_steps.h"

// Loops of the forward pass as long as that of the residuals.
static uint32_t count_loops(const struct advisor *advisor, const struct residuals *residuals) {
    uint32_t loops = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count && residuals->loop_length; i++) {
        int64_t length = 0;
        if (advisor->graph.nodes[i].opcode != OPCODE_WHILE || advisor->phases.of_node[i] != PHASE_FORWARD) continue;
        loops += loop_steps_carried(&advisor->steps, &advisor->batch, i, &length) > 0 &&
                 length == residuals->loop_length;
    }
    return loops;
}

// Loops over time in each of several layers: is a turn the block, or a layer with its whole loop? And a rollout, one
// model of several layers for turn after turn: is a turn the block, or each of its layers? They differ by far. Units
// over time have two weights of a shape, for what they read and what they remember.
static bool doubt_loops(struct advisor *advisor, const struct residuals *residuals) {
    enum { LAYERS = 4, OF_A_UNIT = 2 };
    struct layer_count layers;
    uint32_t loops = advisor_is_over_time(advisor) ? count_loops(advisor, residuals) : 0;
    if (loops == 0) return true;
    if (!layer_count_find(advisor, &layers)) return false;
    if (loops >= LAYERS)
        advisor_doubt_all(advisor,
                          "Each of several layers has a loop over time: compile the step with one layer, or one turn, "
                          "in jax.checkpoint.");
    else if (loops == 1 && layers.count > OF_A_UNIT)
        advisor_doubt_all(advisor,
                          "Each turn of a loop has several layers: compile the step with one turn, or one layer, in "
                          "jax.checkpoint.");
    return true;
}

// Does a loop take weights of so many turns one at a time? Then its turns are the blocks.
static bool has_weights_of(const struct advisor *advisor, int64_t turns) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        if (!advisor_is_weight(advisor, i) || !loop_steps_is_stack(&advisor->steps, leaf)) continue;
        if (advisor->graph.leaves[leaf].dimensions[0] == turns) return true;
    }
    return false;
}

struct turns {  // asked last: arrays of one loop come one after the other
    int64_t count;
    bool has_weights;
};

// Kept for each turn of two loops, of which the outer one takes no weights.
static bool is_of_nested(const struct advisor *advisor, uint32_t leaf, struct turns *last) {
    if (leaf == HLO_NONE || __builtin_popcount(advisor->steps.marks[leaf]) < 2) return false;
    int64_t count = advisor->graph.leaves[leaf].dimensions[0];
    if (count != last->count) *last = (struct turns){count, has_weights_of(advisor, count)};
    return !last->has_weights;
}

// Loops in loops, as layers at each of a few times: is a turn of the outer one the block, or of the inner? What the
// outer backward pass unpacks of a turn goes or stays with that.
static void doubt_nested(struct advisor *advisor, const struct residuals *residuals) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    struct turns last = {.count = -1};
    double nested = 0;
    for (uint32_t i = 0; i < replay->span_count; i++) {
        uint32_t buffer = replay->spans[i].buffer;
        if (residuals_has(residuals, i) && is_of_nested(advisor, advisor_leaf(advisor, buffer), &last))
            nested += (double)advisor->module->buffers[buffer].size_bytes;
    }
    if (nested > (double)residuals->dropped_bytes / 2)
        advisor_doubt_all(advisor, "What waits for the backward pass is of the turns of a loop in a loop: compile the "
                                   "step with one turn of either in jax.checkpoint.");
}

// Blocks of four networks were compiled to 37 % more than the replay says, to 45 % less, and in between.
static void doubt_graph(struct advisor *advisor) {
    advisor_doubt_all(advisor,
                      "Whether blocks hand on what they have of nodes, or of edges as well, does not show: compile the "
                      "step with one block in jax.checkpoint.");
}

bool block_doubts_find(struct advisor *advisor, const struct residuals *residuals) {
    if (!doubt_loops(advisor, residuals)) return false;
    if (advisor->roles.is_graph) doubt_graph(advisor);
    doubt_nested(advisor, residuals);
    return true;
}
