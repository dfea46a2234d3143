#include "analysis/advice/sharding_split.h"

#include "analysis/advice/few_pictures.h"
#include "analysis/advice/given_data.h"
#include "analysis/advice/sharding_flow.h"
#include "analysis/advice/sharding_rest.h"
#include "analysis/hlo/element_type.h"

// --- What the user splits ---

// Dimensions that a loop goes through one at a time: layers, in front or, as some stack them, behind the width.
static unsigned stacked(const struct advisor *advisor, uint32_t leaf) {
    return advisor->steps.marks[leaf] & ((1u << advisor->graph.leaves[leaf].rank) - 1);
}

// The largest that the chips divide, the first of equals; with `is_first` the first. `taken`: bits of those that are
// no choice.
static int divided_dimension(const struct array_shape *shape, unsigned taken, int64_t ways, bool is_first) {
    int found = -1;
    for (int d = 0; d < shape->rank && !(is_first && found >= 0); d++) {
        bool is_larger = found < 0 || shape->dimensions[d] > shape->dimensions[found];
        if (!(taken >> d & 1) && shape->dimensions[d] % ways == 0 && is_larger) found = d;
    }
    return found;
}

// Of four dimensions, kernels have their output features last, heads in groups the model's width first or last: in a
// program with convolutions all such weights are taken for kernels.
int sharding_weight_dimension(const struct advisor *advisor, uint32_t leaf) {
    const struct array_shape *shape = &advisor->graph.leaves[leaf];
    unsigned stack = stacked(advisor, leaf);
    int rank = shape->rank - __builtin_popcount(stack), last = shape->rank - 1;
    bool is_of_four = rank == 4, are_kernels = is_of_four && advisor->has_convolutions;
    if (rank < 2) return -1;
    if (are_kernels && shape->dimensions[last] % advisor->request.ways == 0) return last;
    return divided_dimension(shape, stack, advisor->request.ways, !is_of_four || are_kernels);
}

// Nobody trains integers, but what is kept in a step's state beside weights can be: frames of games that were played.
// Those of eight bits with a sign are quantized, and frozen weights can be packed in any.
static bool is_of_integers(const struct array_shape *shape) {
    return shape->element_type < ELEMENT_TYPE_F16 && shape->element_type != ELEMENT_TYPE_S8;
}

bool sharding_is_weight(const struct advisor *advisor, uint32_t input) {
    const struct entry_input *in = &advisor->roles.inputs[input];
    if (in->leaf == HLO_NONE || !array_is(&advisor->graph.leaves[in->leaf])) return false;
    bool is_trained = in->is_state && !is_of_integers(&advisor->graph.leaves[in->leaf]);
    if (advisor->roles.is_training) return is_trained || in->is_frozen;
    return !advisor->batch.marks[in->leaf];
}

// Are convolutions what it holds? Patches that one convolution makes of pictures are rows from then on.
static bool is_of_pictures(const struct advisor *advisor) {
    const double little = 0.05;
    return advisor->has_convolutions && pictures_bytes_at_peak(advisor) > little * (double)advisor->what_if.total_bytes;
}

// A weight, and the output that takes its place in the next step.
static void mark_weight(const struct advisor *advisor, uint32_t index, struct sharding_split *split) {
    const struct entry_input *input = &advisor->roles.inputs[index];
    int d = sharding_weight_dimension(advisor, input->leaf);
    split->dimension[input->leaf] = (int8_t)d;
    if (d >= 0) dimension_flow_mark(&split->flow, input->leaf, d);
    if (input->mirror != HLO_NONE) split->dimension[advisor->roles.outputs[input->mirror].leaf] = (int8_t)d;
}

static void mark_weights(const struct advisor *advisor, struct sharding_split *split) {
    memset(split->dimension, -1, advisor->graph.leaf_count);
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (sharding_is_weight(advisor, i)) mark_weight(advisor, i, split);
    }
}

static void mark_batch(const struct advisor *advisor, struct dimension_flow *flow) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        bool is_data = leaf != HLO_NONE && !sharding_is_weight(advisor, i);
        for (int d = 0; is_data && d < ARRAY_RANK_MAX; d++) {
            if (advisor->batch.marks[leaf] >> d & 1) dimension_flow_mark(flow, leaf, d);
        }
    }
}

static void block_inputs(const struct advisor *advisor, struct dimension_flow *flow) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (advisor->roles.inputs[i].leaf != HLO_NONE) flow->is_blocked[advisor->roles.inputs[i].leaf] = 1;
    }
}

// --- What follows from it ---

static bool follow(const struct advisor *advisor, bool is_batch_split, struct dimension_flow *flow) {
    flow->chips = advisor->request.ways;
    if (is_batch_split) mark_batch(advisor, flow);
    block_inputs(advisor, flow);
    return given_data_block(flow, advisor->arena) && sharding_flow_run(flow, advisor->arena);
}

bool sharding_split_find(struct advisor *advisor, bool is_batch_split, struct sharding_split *split) {
    *split = (struct sharding_split){.is_by_features = is_of_pictures(advisor)};
    split->dimension = arena_push_raw(advisor->arena, advisor->graph.leaf_count, sizeof *split->dimension);
    bool has_room = split->dimension && dimension_flow_init(&split->flow, &advisor->graph, advisor->arena);
    split->flow.ties_parts = true;
    if (has_room) mark_weights(advisor, split);
    has_room = has_room && follow(advisor, is_batch_split, &split->flow) &&
               sharding_rest_find(&split->flow, advisor->arena, &split->rest);
    split->flow.rest = has_room && split->rest.chips ? &split->rest : NULL;
    return has_room || error_set(advisor->error, ERROR_TOO_BIG, "no memory left to follow the split dimensions");
}

uint8_t sharding_split_marks(const struct sharding_split *split, uint32_t leaf) {
    return split->dimension[leaf] >= 0 ? (uint8_t)(1u << split->dimension[leaf]) : split->flow.marks[leaf];
}
