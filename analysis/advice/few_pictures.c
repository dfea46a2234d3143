#include "analysis/advice/few_pictures.h"

#include "analysis/program/op_name.h"

enum { ENOUGH_PICTURES = 8, SHAPES_MAX = 64, WAVES_RANK = 3, PICTURES_RANK = 4 };

struct convolved {  // the shapes that convolutions make, each size once
    const struct array_shape *shapes[SHAPES_MAX];
    int count;
};

// Of two arrays of [examples, steps, ...], the wave's and another: scores of a vocabulary are no channels.
static bool is_too_wide(const struct array_shape *wave, const struct array_shape *shape) {
    enum { WIDER = 4 };
    return wave->rank == WAVES_RANK && shape->dimensions[shape->rank - 1] / WIDER > wave->dimensions[wave->rank - 1];
}

// Pictures of the same size, with whatever channels, or several in one array: what a product by pixel makes is one too.
static bool is_convolved(const struct convolved *convolved, const struct array_shape *shape) {
    for (int i = 0; i < convolved->count; i++) {
        const struct array_shape *one = convolved->shapes[i];
        size_t bytes = (size_t)(one->rank - 1) * sizeof shape->dimensions[0];
        if (shape->rank < one->rank) continue;
        bool is_alike = !memcmp(one->dimensions, shape->dimensions + shape->rank - one->rank, bytes);
        if (is_alike && !is_too_wide(one, shape)) return true;
    }
    return false;
}

// The op names of backward passes count too: what a gradient of pictures looks like, pictures do.
static bool is_made_by_convolution(const struct advisor *advisor, uint32_t leaf, int least_rank) {
    const struct array_shape *shape = &advisor->graph.leaves[leaf];
    const struct graph_node *node = &advisor->graph.nodes[advisor->graph.node_of_leaf[leaf]];
    bool has_rank = array_is(shape) && shape->rank >= least_rank && shape->rank <= PICTURES_RANK;
    return has_rank && advisor->batch.marks[leaf] &&
           bytes_contains(op_name_primitive(node->op_name), BYTES("conv_general_dilated"));
}

static struct convolved find_convolved(const struct advisor *advisor, int least_rank) {
    struct convolved found = {.count = 0};
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count && found.count < SHAPES_MAX; leaf++) {
        const struct array_shape *shape = &advisor->graph.leaves[leaf];
        bool is_one = is_made_by_convolution(advisor, leaf, least_rank);
        if (is_one && !is_convolved(&found, shape)) found.shapes[found.count++] = shape;
    }
    return found;
}

int64_t largest_wave_elements(const struct advisor *advisor) {
    int64_t largest = 0;
    bool has_pictures = find_convolved(advisor, PICTURES_RANK).count > 0;
    for (uint32_t leaf = 0; leaf < advisor->graph.leaf_count && !has_pictures; leaf++) {
        if (!is_made_by_convolution(advisor, leaf, WAVES_RANK)) continue;
        int64_t elements = array_shape_elements(&advisor->graph.leaves[leaf]);
        if (elements > largest) largest = elements;
    }
    return largest;
}

static double bytes_at_peak(const struct advisor *advisor, int least_rank) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    struct convolved convolved = find_convolved(advisor, least_rank);
    double bytes = 0;
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t buffer = replay->live_at_peak[i], leaf = advisor_leaf(advisor, buffer);
        if (leaf == HLO_NONE || !advisor->batch.marks[leaf]) continue;
        if (is_convolved(&convolved, &advisor->graph.leaves[leaf]))
            bytes += (double)advisor->what_if.residents.module.buffers[buffer].size_bytes;
    }
    return bytes;
}

// Patches of pictures are no waves, though rows from then on: where there are pictures, only these count.
double pictures_bytes_at_peak(const struct advisor *advisor) {
    bool has_pictures = find_convolved(advisor, PICTURES_RANK).count > 0;
    return bytes_at_peak(advisor, has_pictures ? PICTURES_RANK : WAVES_RANK);
}

void few_pictures_doubt(struct advisor *advisor, int64_t examples) {
    if (!advisor->is_for_tpu || examples >= ENOUGH_PICTURES || advisor->roles.batch < ENOUGH_PICTURES) return;
    double bytes = bytes_at_peak(advisor, PICTURES_RANK);
    if (bytes <= 0) return;
    if (advisor->doubt.may_stay_bytes < bytes) advisor->doubt.may_stay_bytes = bytes;
    advisor->doubt.help = "Compile it so: convolutions of fewer than eight pictures on a chip are computed in another "
                          "form, strips of each picture in the batch, which can take more than eight pictures do.";
}

bool few_pictures_already(const struct advisor *advisor) {
    return advisor->is_for_tpu && advisor->roles.batch < ENOUGH_PICTURES && bytes_at_peak(advisor, PICTURES_RANK) > 0;
}

bool few_pictures_in_lanes(const struct advisor *advisor, int64_t examples) {
    enum { LANES = 128 };
    return advisor->is_for_tpu && examples % LANES != 0 && bytes_at_peak(advisor, PICTURES_RANK) > 0;
}
