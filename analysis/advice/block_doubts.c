#include "analysis/advice/block_doubts.h"

#include "analysis/advice/few_pictures.h"
#include "analysis/advice/layer_count.h"
#include "analysis/advice/loop_steps.h"
#include "analysis/advice/mixed_sizes.h"

// Of a loop over stacked weights: is a turn the block, or each of the several layers that all shapes of weights say it
// has? Eight layers a turn, in three turns, keep 4 times as much while a turn runs again as while a layer does.
static void doubt_turns(struct advisor *advisor, const struct residuals *residuals) {
    enum { SEVERAL = 4 };
    if (!residuals->loop_length || layer_count_of_turn(advisor) < SEVERAL) return;
    advisor_doubt_all(advisor, "Each turn of a loop over layers has several of them: compile the step with one turn, "
                               "or one layer, in jax.checkpoint.");
}

// A rollout, one model of several layers for turn after turn: is a turn the block, or each of its layers? They are far
// apart, but not where there are many turns, as of words: each is a little of all. Units over time have two weights of
// a shape, for what they read and what they remember. And on a GPU, layers with a loop over time each: their stacks are
// begun together, and what a layer frees that runs again is not seen.
static void doubt_loops(struct advisor *advisor, const struct residuals *residuals) {
    enum { OF_A_UNIT = 2, MANY_TURNS = 64 };
    uint32_t loops = block_stages_loops_over_time(advisor, residuals);
    if (loops == 0) {
        doubt_turns(advisor, residuals);
        return;
    }
    if (loops >= LAYERS_OVER_TIME && advisor->is_for_gpu)
        advisor_doubt_all(advisor,
                          "Each of several layers has a loop over time: compile the step with one layer, or one turn, "
                          "in jax.checkpoint.");
    else if (loops == 1 && layer_count_find(advisor).count > OF_A_UNIT && residuals->loop_length < MANY_TURNS)
        advisor_doubt_all(advisor,
                          "Each turn of a loop has several layers: compile the step with one turn, or one layer, in "
                          "jax.checkpoint.");
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

// At the peak: what loops of the backward pass stack up of the batch in a part that runs again.
static double stacked_again(const struct advisor *advisor) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double bytes = 0;
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t buffer = replay->live_at_peak[i], leaf = advisor_leaf(advisor, buffer);
        if (leaf == HLO_NONE || !advisor->batch.marks[leaf] || !loop_steps_is_stack(&advisor->steps, leaf)) continue;
        uint32_t origin = advisor->origins.of_leaf[leaf].node;
        struct bytes name = origin == HLO_NONE ? (struct bytes){0} : advisor->graph.nodes[origin].op_name;
        bool is_again = op_name_phase(name) == PHASE_BACKWARD && bytes_contains(name, BYTES("checkpoint"));
        bytes += is_again ? (double)advisor->module->buffers[buffer].size_bytes : 0;
    }
    return bytes;
}

static void doubt_parts_again(struct advisor *advisor, const struct residuals *residuals) {
    double again = stacked_again(advisor);
    if (again <= (double)residuals->dropped_bytes) return;
    advisor->doubt.population_bytes += again;
    advisor_doubt_all(advisor, "Parts of this program run again already, and what their layers keep meanwhile is more "
                               "than what waits from the forward pass: compile the step with one layer in "
                               "jax.checkpoint.");
}

// As of an encoder and a decoder that both have pictures of one size.
static void doubt_sizes(struct advisor *advisor, const struct residuals *residuals, const struct block_stages *stages) {
    const double much = 0.5;
    if (!advisor->has_convolutions || residuals->loop_length || stages->count < 2) return;
    for (uint32_t s = 0; s < stages->count; s++) {
        if (stages->stages[s].dropped_bytes < much * (double)residuals->dropped_bytes) continue;
        if (!mixed_sizes_are_in(residuals, stages, (uint8_t)s)) continue;
        advisor_doubt_all(advisor, "Pictures of several sizes are kept in turns, and which blocks keep them does not "
                                   "show: compile the step with one block in jax.checkpoint.");
    }
}

void block_doubts_find(struct advisor *advisor, const struct residuals *residuals, const struct block_stages *stages) {
    doubt_loops(advisor, residuals);
    doubt_sizes(advisor, residuals, stages);
    if (advisor->roles.is_graph) doubt_graph(advisor);
    if (few_pictures_already(advisor))
        advisor_doubt_all(
            advisor, "Convolutions of fewer than eight pictures are computed in strips, and the compiler may choose "
                     "others where blocks run again: compile the step with one block in jax.checkpoint.");
    doubt_nested(advisor, residuals);
    doubt_parts_again(advisor, residuals);
}
