// Sharding the parameters, or parameters and batch, over several chips.
//
//     w f32[1024,4096] -> f32[256,4096] on each of 4 chips         parameters, their outputs, optimizer state: a part
//     x bf16[8,512,1024], batch replicated: the dimension that meets w's split one is split with it (the partitioner's
//     own propagation, followed here as dimension ties); what no split dimension reaches stays whole
//     x bf16[8,512,1024], batch split: f32[2,512,1024]
#include "analysis/advice/advisor.h"

enum { BF16_BITS = 16, INPUTS_MAX = 4096 };  // inputs looked at for stacks

// A program that is short of memory keeps less than it would: about this part of the temporaries comes back.
#define HIDDEN 0.15

struct stacking {
    int64_t layers;  // the leading dimension of weights that a loop goes through; 0 without
};

// Weights of a scanned model are stacked: most of the state has one leading dimension, and there is a loop.
static struct stacking find_stacking(const struct advisor *advisor) {
    const struct program_graph *graph = &advisor->graph;
    bool has_loop = false;
    double all = 0, best = 0;
    struct stacking stacking = {0};
    for (uint32_t i = 0; i < graph->node_count && !has_loop; i++) has_loop = graph->nodes[i].opcode == OPCODE_WHILE;
    for (uint32_t i = 0; has_loop && i < advisor->roles.input_count && i < INPUTS_MAX; i++) {
        uint32_t leaf = advisor->roles.inputs[i].leaf;
        if (leaf == HLO_NONE || graph->leaves[leaf].rank < 2) continue;
        double alike = 0;
        all += 1;
        for (uint32_t k = 0; k < advisor->roles.input_count && k < INPUTS_MAX; k++) {
            uint32_t other = advisor->roles.inputs[k].leaf;
            if (other == HLO_NONE || graph->leaves[other].rank < 2) continue;
            alike += graph->leaves[other].dimensions[0] == graph->leaves[leaf].dimensions[0];
        }
        if (alike <= best) continue;
        best = alike;
        stacking.layers = graph->leaves[leaf].dimensions[0];
    }
    return best > 1 && best >= all / 2 && stacking.layers <= 1024 ? stacking : (struct stacking){0};
}

// The dimension that is split: the first of a matrix, after the layers of a stack; the output features of a
// convolution. -1 when none can be.
static int split_dimension(const struct advisor *advisor, const struct array_shape *shape, struct stacking stacking) {
    int64_t ways = advisor->request.ways;
    int first = stacking.layers && shape->dimensions[0] == stacking.layers && shape->rank > 1 ? 1 : 0;
    if (shape->rank - first < 2) return -1;
    if (shape->rank - first == 4 && shape->dimensions[shape->rank - 1] % ways == 0) return shape->rank - 1;
    for (int d = first; d < shape->rank; d++) {
        if (shape->dimensions[d] % ways == 0) return d;
    }
    return -1;
}

static bool is_weight(const struct advisor *advisor, uint32_t input) {
    const struct entry_input *in = &advisor->roles.inputs[input];
    if (in->leaf == HLO_NONE || !array_is(&advisor->graph.leaves[in->leaf])) return false;
    if (advisor->roles.is_training) return in->is_state;
    return !advisor->batch.marks[in->leaf];
}

struct split {
    struct dimension_flow flow;
    int8_t *dimension;    // of each leaf: the one that is split by being a weight or its mirror; -1 none
    bool is_by_features;  // convolutions: split by output features, so that each gathers its whole input
};

static bool mark_weights(struct advisor *advisor, struct split *split) {
    struct stacking stacking = find_stacking(advisor);
    split->dimension = arena_push_raw(advisor->arena, advisor->graph.leaf_count, sizeof *split->dimension);
    bool has_room = dimension_flow_init(&split->flow, &advisor->graph, advisor->arena);
    if (!split->dimension || !has_room || !split->flow.marks)
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left to follow the split dimensions");
    split->flow.forbidden = advisor->batch.marks;
    memset(split->dimension, -1, advisor->graph.leaf_count);
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        const struct entry_input *input = &advisor->roles.inputs[i];
        if (!is_weight(advisor, i)) continue;
        int d = split_dimension(advisor, &advisor->graph.leaves[input->leaf], stacking);
        split->dimension[input->leaf] = (int8_t)d;
        split->is_by_features |= d == 3;
        if (d >= 0) dimension_flow_mark(&split->flow, input->leaf, d);
        if (input->mirror != HLO_NONE) split->dimension[advisor->roles.outputs[input->mirror].leaf] = (int8_t)d;
    }
    dimension_flow_run(&split->flow);
    return true;
}

// One dimension of an array is split, not two.
static struct array_shape split_once(const struct array_shape *shape, uint8_t marks, int64_t ways) {
    struct array_shape part = *shape;
    for (int d = 0; d < part.rank; d++) {
        if (!(marks >> d & 1)) continue;
        part.dimensions[d] = (part.dimensions[d] + ways - 1) / ways;
        break;
    }
    return part;
}

// With the batch whole, sums over a split dimension come together as whole arrays, one at a time: the blocks' input,
// unless fast memory holds that.
// A convolution split by output features gathers its input, and the gradient of its output, in float32.
static int64_t gathered_inputs(const struct advisor *advisor, const struct split *split) {
    const int64_t gathered_element_bytes = 8;  // two of float32
    int64_t largest = 0;
    const struct heap_replay *replay = &advisor->what_if.replay;
    int64_t stream = split->is_by_features ? 0 : advisor_stream_bytes(advisor);
    if (!split->is_by_features) return stream > advisor->what_if.fast_bytes / 2 ? stream : 0;
    for (uint32_t i = 0; i < replay->span_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, replay->spans[i].buffer);
        if (leaf == HLO_NONE || !split->flow.marks[leaf] || !advisor->batch.marks[leaf]) continue;
        int64_t elements = array_shape_elements(&advisor->graph.leaves[leaf]);
        if (elements > largest && elements < INT64_MAX / 16) largest = elements;
    }
    return largest * gathered_element_bytes;
}

// The largest weight, whole and in bfloat16, while it is multiplied with.
static int64_t gathered_weight(const struct advisor *advisor) {
    int64_t largest = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (!is_weight(advisor, i)) continue;
        struct array_shape shape = advisor->graph.leaves[advisor->roles.inputs[i].leaf];
        bool is_stacked = shape.rank > 2;  // of a stack, or of experts, a part is gathered at a time
        int64_t bytes = is_stacked ? 0 : array_shape_bytes(&shape);
        if (shape.element_bits > BF16_BITS) bytes = bytes / shape.element_bits * BF16_BITS;
        if (bytes > largest) largest = bytes;
    }
    return largest;
}

// Fast memory holds the same bytes on each chip while the arrays got smaller; two thirds of what that frees goes to
// gathered weights and the buffers of collectives.
static int64_t moved_to_fast_memory(const struct advisor *advisor, int64_t small_bytes) {
    int64_t freed = advisor->what_if.fast_bytes - advisor->what_if.fast_bytes / advisor->request.ways;
    return (freed < small_bytes ? freed : small_bytes) / 3;
}

// Inputs that are no weights lie as the user puts them: whole.
static bool is_data(const struct advisor *advisor, uint32_t buffer) {
    const struct hlo_module *module = advisor->module;
    uint32_t a = buffer < advisor->what_if.module->buffer_count ? module->allocation_of_buffer[buffer] : HLO_NONE;
    if (a == HLO_NONE || !module->allocations[a].is_entry_parameter) return false;
    int64_t number = module->allocations[a].parameter_number;
    return number >= 0 && number < advisor->roles.input_count && !is_weight(advisor, (uint32_t)number);
}

static bool predict_sharded(struct advisor *advisor, bool is_batch_split, double spread, struct advice_item *item) {
    struct split split = {0};
    int64_t *sizes = advisor_sizes(advisor);
    if (!sizes || !mark_weights(advisor, &split) || !split.flow.marks || !split.dimension) return false;
    for (uint32_t i = 0; i < advisor->module->buffer_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, i);
        if (leaf == HLO_NONE || !array_is(&advisor->graph.leaves[leaf])) continue;
        if (!is_batch_split && is_data(advisor, i)) continue;
        uint8_t marks = split.flow.marks[leaf];
        if (split.dimension[leaf] >= 0)
            marks = (uint8_t)(1u << split.dimension[leaf]);
        else if (is_batch_split && advisor->batch.marks[leaf])
            marks = advisor->batch.marks[leaf];
        struct array_shape part = split_once(&advisor->graph.leaves[leaf], marks, advisor->request.ways);
        sizes[i] = advisor_reshaped(advisor, i, &part);
    }
    struct what_if_change change = {.sizes = sizes};
    struct what_if_result then;
    if (!advisor_run(advisor, &change, &then)) return false;
    int64_t hidden = advisor->is_rematerialized ? what_if_bytes(HIDDEN * (double)then.temporary_bytes) : 0;
    int64_t added = is_batch_split ? gathered_weight(advisor) - moved_to_fast_memory(advisor, then.small_bytes)
                                   : gathered_inputs(advisor, &split);
    then.total_bytes += added + hidden;
    then.peak_bytes += added + hidden;
    advisor_set_totals(advisor, &then, spread, spread, item);
    if (advisor->is_rematerialized)
        advisor_say(advisor, item,
                    "The compiler recomputes arrays here for want of memory (names with .remat); with room "
                    "to spare it will keep more of them.");
    if (split.is_by_features && !is_batch_split)
        advisor_say(advisor, item, "Each convolution gathers its whole input first: up to %s at a time.",
                    size_string(added, advisor->arena));
    return true;
}

static void say_weights(const struct advisor *advisor, struct advice_item *item) {
    struct stacking stacking = find_stacking(advisor);
    int64_t split_bytes = 0, whole_bytes = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (!is_weight(advisor, i)) continue;
        const struct array_shape *shape = &advisor->graph.leaves[advisor->roles.inputs[i].leaf];
        int64_t bytes = array_shape_bytes(shape);
        bool is_split = split_dimension(advisor, shape, stacking) >= 0;
        *(is_split ? &split_bytes : &whole_bytes) += bytes > 0 ? bytes : 0;
    }
    advisor_say(advisor, item, "%s of inputs have a dimension that %lld chips can share; %s stay whole on each.",
                size_string(split_bytes, advisor->arena), (long long)advisor->request.ways,
                size_string(whole_bytes, advisor->arena));
}

static bool has_weights(const struct advisor *advisor) {
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (is_weight(advisor, i) && advisor->graph.leaves[advisor->roles.inputs[i].leaf].rank > 1) return true;
    }
    return false;
}

bool advise_shard_parameters(struct advisor *advisor, struct advice_item *item) {
    item->ways = advisor->request.ways;
    item->how =
        "jax.device_put each weight, and its optimizer state, with NamedSharding(mesh, PartitionSpec('x', None)): "
        "the first dimension split over the chips (after the layers of a stacked one, the output features of a "
        "convolution), the batch whole on every chip.";
    if (!has_weights(advisor))
        return advisor_no_use(advisor, item, "No input of two or more dimensions stands for weights.");
    item->applies = true;
    say_weights(advisor, item);
    return predict_sharded(advisor, false, 0.15, item);
}

bool advise_shard_all(struct advisor *advisor, struct advice_item *item) {
    item->ways = advisor->request.ways;
    item->how = "As shard_parameters, and the batch split over the same chips: PartitionSpec('x') for its first "
                "dimension (fully sharded data parallelism).";
    if (!has_weights(advisor) && advisor->roles.batch < 2)
        return advisor_no_use(advisor, item, "Neither weights nor a batch were found among the inputs.");
    item->applies = true;
    say_weights(advisor, item);
    if (advisor->roles.batch > 1 && dimension_flow_has_marks(&advisor->batch))
        advisor_say(advisor, item, "The batch of %lld is split %lld ways.", (long long)advisor->roles.batch,
                    (long long)advisor->request.ways);
    return predict_sharded(advisor, true, 0.15, item);
}
