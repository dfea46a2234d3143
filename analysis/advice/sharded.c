#include "analysis/advice/sharded.h"

#include "analysis/advice/edge_sums.h"
#include "analysis/advice/few_pictures.h"
#include "analysis/advice/looked_up.h"
#include "analysis/advice/loop_steps.h"
#include "analysis/advice/sliced_inputs.h"
#include "analysis/advice/unaliased.h"
#include "analysis/advice/weight_products.h"

enum { BF16_BITS = 16 };

// Of the temporaries, what is whole beside its parts where heads are no multiple of the chips.
#define REGATHERED 0.1

// Of the pictures that a GPU's chips share by examples, what waits beside what waited on one chip: gradients of kernels
// come late, as they are summed over chips.
#define WAITING_PICTURES 0.15

// Of the operands that a step on GPUs gathers for its weights' gradients, what waits at once in layers over tokens: of
// seven compiled programs five had 0.88 to 0.95 of all, as the first gradients are made before the last is gathered,
// and two 0.99 and 1.05.
#define WAITING_IN_LAYERS 0.95

// Of a stack, what one turn of the loop has.
static int64_t elements_at_once(const struct advisor *advisor, uint32_t leaf) {
    const struct array_shape *shape = &advisor->graph.leaves[leaf];
    int64_t elements = array_shape_elements(shape);
    bool is_stack = loop_steps_is_stack(&advisor->steps, leaf) && shape->dimensions[0] > 0;
    return is_stack ? elements / shape->dimensions[0] : elements;
}

static int64_t largest_split_elements(const struct advisor *advisor, const struct sharding_split *split) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    int64_t largest = 0;
    for (uint32_t i = 0; i < replay->span_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, replay->spans[i].buffer);
        if (leaf == HLO_NONE || !split->flow.marks[leaf] || !advisor->batch.marks[leaf]) continue;
        int64_t elements = elements_at_once(advisor, leaf);
        if (elements > largest && elements < INT64_MAX / 16) largest = elements;
    }
    return largest;
}

// With the batch whole, sums over a split dimension come together as whole arrays, one at a time: the blocks' input,
// unless fast memory holds that.
// A convolution split by output features gathers its input, and the gradient of its output, in float32; in bfloat16 on
// a GPU the input alone. Beside waves stand sequences of the same length that none makes, logits among them.
static int64_t gathered_inputs(const struct advisor *advisor, const struct sharding_split *split) {
    bool is_in_bf16 = advisor->is_for_gpu && advisor_computes_in_bf16(advisor);
    const double gathered_element_bytes = is_in_bf16 ? 2 : 8;
    int64_t stream = split->is_by_features ? 0 : advisor_stream_bytes(advisor);
    if (!split->is_by_features) return stream > advisor->what_if.fast_bytes / 2 ? stream : 0;
    int64_t of_waves = largest_wave_elements(advisor);
    return what_if_bytes(gathered_element_bytes *
                         (double)(of_waves ? of_waves : largest_split_elements(advisor, split)));
}

// Is a weight as large as this one multiplied with activations? Of a table rows are taken, and nothing is gathered.
static bool is_multiplied(const struct advisor *advisor, const struct array_shape *shape) {
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!weight_product_read(advisor, i, &product) || product.weight == HLO_NONE) continue;
        if (array_shape_elements(&advisor->graph.leaves[product.weight]) == array_shape_elements(shape)) return true;
    }
    return false;
}

// The largest weight that is trained, whole and in bfloat16, while it is multiplied with.
static int64_t gathered_weight(const struct advisor *advisor) {
    enum { LOOKED_FOR_MAX = 64 };  // of hostile programs: a weight larger than all before it, again and again
    int64_t largest = 0;
    int looked_for = 0;
    for (uint32_t i = 0; i < advisor->roles.input_count; i++) {
        if (!sharding_is_weight(advisor, i) || advisor->roles.inputs[i].is_frozen) continue;
        struct array_shape shape = advisor->graph.leaves[advisor->roles.inputs[i].leaf];
        bool is_stacked = shape.rank > 2;  // of a stack, or of experts, a part is gathered at a time
        int64_t bytes = is_stacked ? 0 : array_shape_bytes(&shape);
        if (shape.element_bits > BF16_BITS) bytes = bytes / shape.element_bits * BF16_BITS;
        if (bytes <= largest || looked_for++ >= LOOKED_FOR_MAX || !is_multiplied(advisor, &shape)) continue;
        largest = bytes;
    }
    return what_if_bytes((double)largest);
}

// Fast memory holds the same bytes on each chip while the arrays got smaller; two thirds of what that frees goes to
// gathered weights and the buffers of collectives.
static int64_t moved_to_fast_memory(const struct advisor *advisor, int64_t small_bytes) {
    int64_t freed = advisor->what_if.fast_bytes - advisor->what_if.fast_bytes / advisor->request.ways;
    return (freed < small_bytes ? freed : small_bytes) / 3;
}

// On a TPU with the batch split: one at a time where something is trained, else many ahead of their products.
static int64_t gathered_on_chips(const struct advisor *advisor, const struct sharded *sharded) {
    int64_t gathered = advisor->roles.is_training ? gathered_weight(advisor) : sharded->weights_bytes;
    return gathered - moved_to_fast_memory(advisor, sharded->then.small_bytes);
}

bool sharded_is_by_edges(const struct advisor *advisor, const struct sharded *sharded) {
    const double by_columns = 0.3;
    return advisor->is_for_tpu && advisor->roles.is_graph && sharded->is_batch_split &&
           sharded->batch.whole_share < by_columns;
}

bool sharded_is_batch_whole(const struct sharded *sharded) {
    return !sharded->is_batch_split || batch_reach_is_little(&sharded->batch);
}

// As the backward pass ends, beyond the peak of what is split: what convolutions take, and products beside them.
static int64_t waiting_inputs(const struct advisor *advisor, const struct sharded *sharded) {
    int64_t beyond = sharded->pictures.at_end_bytes + gathered_gradients_bytes(advisor, &sharded->split.flow) -
                     sharded->then.temporary_bytes;
    return beyond > 0 ? beyond : 0;
}

// Where columns win nearly everywhere, a step on GPUs gathers what it gathers with the batch whole; not so of pictures.
static bool is_of_examples(const struct advisor *advisor, const struct sharded *sharded) {
    bool is_in_columns = sharded_is_batch_whole(sharded) && !sharded->split.is_by_features;
    return sharded->is_batch_split && !(advisor->roles.is_training && is_in_columns);
}

// With the batch whole, or where columns win over it, what waits for the weights' gradients when a step on GPUs ends.
static int64_t waiting_at_end(const struct advisor *advisor, const struct sharded *sharded) {
    bool are_in_layers = sharding_is_familiar(&sharded->habits) && !sharded->habits.is_of_tables;
    double all = (double)gathered_gradients_bytes(advisor, &sharded->split.flow);
    return what_if_bytes(are_in_layers ? WAITING_IN_LAYERS * all : all);
}

static int64_t gathered_or_summed(const struct advisor *advisor, const struct sharded *sharded) {
    if (sharded_is_by_edges(advisor, sharded)) return gathered_on_chips(advisor, sharded) + edge_sums_bytes(advisor);
    if (sharded->is_batch_split && advisor->is_for_tpu) return gathered_on_chips(advisor, sharded);
    if (is_of_examples(advisor, sharded))
        return sharded->weights_bytes + exchanged_product_bytes(advisor, &sharded->split.flow);
    if (sharded->pictures.at_end_bytes) return waiting_inputs(advisor, sharded);
    int64_t added = gathered_inputs(advisor, &sharded->split);
    if (sharded->split.is_by_features) return added;
    added += sliced_inputs_bytes(advisor, &sharded->split);
    if (advisor->is_for_tpu) return added + unfused_product_bytes(advisor);
    int64_t beyond = waiting_at_end(advisor, sharded) - sharded->then.temporary_bytes;
    return (beyond > added ? beyond : added) + unfused_product_bytes(advisor);
}

int64_t sharded_beyond_with_zeros(const struct sharded *sharded) {
    int64_t room = sharded->then.temporary_bytes + sharded->then.room_bytes;
    return sharded->zeros.peak_bytes - room;
}

// Rows are looked up before anything else is there, and their table's gradient is made when nothing else is still.
static int64_t exchanged_or_gathered(const struct advisor *advisor, const struct sharded *sharded) {
    const struct sharding_split *split = &sharded->split;
    int64_t added = gathered_or_summed(advisor, sharded), today = sharded->then.temporary_bytes;
    int64_t at_first = looked_up_unfused_bytes(advisor, split) - today,
            at_last = looked_up_scattered_bytes(advisor, split, sharded->is_batch_split) - today -
                      sharded->then.empty_bytes;  // of outputs
    if (at_first > added) added = at_first;
    int64_t with_zeros = sharded_beyond_with_zeros(sharded);
    if (at_last > added) added = at_last;
    return with_zeros > added ? with_zeros : added;
}

static double waiting_pictures(const struct advisor *advisor, const struct sharded *sharded) {
    if (!advisor->is_for_gpu || !sharded->is_batch_split || !sharded->split.is_by_features) return 0;
    if (!advisor->roles.is_training) return 0;
    return WAITING_PICTURES * pictures_bytes_at_peak(advisor) / (double)advisor->request.ways;
}

int64_t summed_twice_bytes(const struct sharded *sharded) {
    const double likely = 0.4;
    bool is_seen = !sharded->is_batch_split && !sharded->habits.is_over_time;
    return !is_seen ? 0 : what_if_bytes(likely * (double)sharded->summed_whole.twice_bytes);
}

int64_t sharded_added_bytes(const struct advisor *advisor, const struct sharded *sharded) {
    bool is_regathered = sharded->uneven.is_whole && (advisor->is_for_gpu || !sharded->is_batch_split);
    double regathered = is_regathered ? REGATHERED * (double)sharded->then.temporary_bytes : 0;
    int64_t summed = sharded->summed_whole.beyond_peak_bytes + summed_twice_bytes(sharded);
    summed += unaliased_bytes(advisor, &sharded->split, sharded->is_batch_split);
    return exchanged_or_gathered(advisor, sharded) + sharded->waiting.likely + summed +
           what_if_bytes(regathered + waiting_pictures(advisor, sharded));
}

int64_t sharded_partial_sum_bytes(const struct advisor *advisor, const struct sharded *sharded) {
    bool is_cut_at_once = advisor->is_for_gpu && !sharded->summed_whole.is_of_examples;
    return is_cut_at_once ? 0 : sharded->summed_whole.product_bytes / 2;
}
