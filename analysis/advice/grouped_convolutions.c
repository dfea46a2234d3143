#include "analysis/advice/grouped_convolutions.h"

#include "analysis/program/library_call.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

// Of a dimension that a convolution numbers; 0: there is none.
static int64_t size_of(const struct advisor *advisor, uint32_t leaf, struct bytes numbers, uint32_t field) {
    int d = dimension_number_read(numbers, field);
    const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
    return shape && d < shape->rank ? shape->dimensions[d] : 0;
}

// (input, kernel) -> output, or (output, kernel) -> input: does each feature take several, but not all?
static bool is_of_groups(const struct advisor *advisor, const struct graph_node *node) {
    enum library_call call = library_call_of(node);
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_CONVOLUTION);
    bool is_forward = call == LIBRARY_CONVOLUTION;
    if (!is_forward && call != LIBRARY_CONVOLUTION_INPUT) return false;
    uint32_t input = is_forward ? flow_operand_leaf(&advisor->batch, node, 0) : node->first_leaf,
             kernel = flow_operand_leaf(&advisor->batch, node, 1);
    int64_t all = size_of(advisor, input, numbers, CONVOLUTION_INPUT_FEATURE),
            taken = size_of(advisor, kernel, numbers, CONVOLUTION_KERNEL_INPUT_FEATURE);
    return 1 < taken && taken < all;
}

uint8_t *grouped_convolutions_find(const struct advisor *advisor, bool is_batch_split) {
    const struct program_graph *graph = &advisor->graph;
    uint8_t *grouped = arena_new(advisor->arena, uint8_t, graph->leaf_count + 1u);
    if (!grouped) error_set(advisor->error, ERROR_TOO_BIG, "no memory left for convolutions of groups");
    bool is_seen = advisor->is_for_gpu && is_batch_split;
    for (uint32_t i = 0; grouped && is_seen && i < graph->node_count; i++) {
        const struct graph_node *node = &graph->nodes[i];
        if (!node->leaf_count || !advisor->batch.marks[node->first_leaf]) continue;
        grouped[node->first_leaf] = is_of_groups(advisor, node);
    }
    return grouped;
}

int64_t grouped_convolutions_bytes(const struct advisor *advisor, const uint8_t *grouped) {
    const struct heap_replay *replay = &advisor->what_if.replay;
    double bytes = 0;
    for (uint32_t i = 0; i < replay->live_at_peak_count; i++) {
        uint32_t leaf = advisor_leaf(advisor, replay->live_at_peak[i]);
        if (leaf != HLO_NONE && grouped[leaf]) bytes += (double)array_shape_bytes(&advisor->graph.leaves[leaf]);
    }
    return what_if_bytes(bytes);
}
