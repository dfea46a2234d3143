#include "analysis/advice/whole_pictures.h"

#include "analysis/advice/weight_products.h"
#include "analysis/program/library_call.h"
#include "analysis/program/op_name.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

struct convolution {
    uint32_t input, kernel, output;  // leaves
    int64_t features, taken;         // of the input; of these, what one feature of the output takes
};

// Of a dimension that a convolution numbers; 0: there is none.
static int64_t size_of(const struct advisor *advisor, uint32_t leaf, struct bytes numbers, uint32_t field) {
    int d = dimension_number_read(numbers, field);
    const struct array_shape *shape = leaf == HLO_NONE ? NULL : &advisor->graph.leaves[leaf];
    return shape && d < shape->rank ? shape->dimensions[d] : 0;
}

// (input, kernel) -> output, or (output, kernel) -> input, of pictures that follow the batch.
static bool convolution_read(const struct advisor *advisor, const struct graph_node *node, struct convolution *c) {
    enum { PICTURES_RANK = 4 };
    enum library_call call = library_call_of(node);
    if (!node->leaf_count || (call != LIBRARY_CONVOLUTION && call != LIBRARY_CONVOLUTION_INPUT)) return false;
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_CONVOLUTION);
    uint32_t first = flow_operand_leaf(&advisor->batch, node, 0), result = node->first_leaf;
    bool is_forward = call == LIBRARY_CONVOLUTION;
    *c = (struct convolution){.input = is_forward ? first : result,
                              .kernel = flow_operand_leaf(&advisor->batch, node, 1),
                              .output = is_forward ? result : first};
    c->features = size_of(advisor, c->input, numbers, CONVOLUTION_INPUT_FEATURE);
    c->taken = size_of(advisor, c->kernel, numbers, CONVOLUTION_KERNEL_INPUT_FEATURE);
    return first != HLO_NONE && c->kernel != HLO_NONE && advisor->graph.leaves[c->kernel].rank == PICTURES_RANK &&
           advisor->batch.marks[first] && advisor->batch.marks[result];
}

// --- With the batch split ---

static void mark_groups(const struct advisor *advisor, uint8_t *leaves) {
    struct convolution c;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        if (convolution_read(advisor, node, &c) && 1 < c.taken && c.taken < c.features) leaves[node->first_leaf] = 1;
    }
}

// --- With the batch whole, or where features win over it ---

// How many of a pad's elements there are for each that it is given, but for its edges.
static double spread_by(const struct graph_node *pad) {
    double spread = 1;
    struct wire config = wire_open(wire_find_message(pad->message, HLO_INSTRUCTION_PADDING));
    for (struct wire_field f; wire_next(&config, &f);) {
        if (f.number != PADDING_DIMENSIONS || f.type != WIRE_LEN) continue;
        struct wire dimension = wire_open(f.payload);
        uint64_t interior = 0;
        if (wire_find_varint(&dimension, PADDING_DIMENSION_INTERIOR, &interior)) spread *= 1 + (double)interior;
    }
    return spread;
}

// Of what a transposed convolution takes, with zeros between, in a fusion: as above. Chips gather it without them.
static double spread_of(const struct advisor *advisor, uint32_t leaf) {
    const struct program_graph *graph = &advisor->graph;
    const struct graph_node *node = &graph->nodes[graph->node_of_leaf[leaf]];
    uint32_t called = node->opcode == OPCODE_FUSION && node->called_count ? graph->called[node->first_called]
                                                                          : HLO_NONE;
    double most = 1;
    for (uint32_t i = 0; called < graph->computation_count && i < graph->computations[called].node_count; i++) {
        double spread = spread_by(&graph->nodes[graph->computations[called].first_node + i]);
        if (spread > most) most = spread;
    }
    return most;
}

struct pictures {
    double inputs, outputs, largest_input;  // bytes
    bool is_in_loop, is_nested;             // gradients of gradients
};

static void add_input(const struct advisor *advisor, uint32_t input, uint8_t *leaves, struct pictures *sum) {
    double bytes = (double)array_shape_bytes(&advisor->graph.leaves[input]) / spread_of(advisor, input);
    uint32_t source = weight_product_source(advisor, input);
    sum->inputs += leaves[source] ? 0 : bytes;
    if (bytes > sum->largest_input) sum->largest_input = bytes;
    leaves[source] = leaves[input] = 1;
}

// Does the batch win the output? With the batch whole it wins none.
static bool is_by_examples(const struct advisor *advisor, const struct dimension_flow *split, bool is_batch_split,
                           uint32_t output) {
    uint8_t marks = split->marks[output];
    return is_batch_split && (!marks || (marks & advisor->batch.marks[output]));
}

static struct pictures mark_inputs(const struct advisor *advisor, const struct dimension_flow *split,
                                   bool is_batch_split, uint8_t *leaves) {
    struct pictures sum = {0};
    struct convolution c;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        bool is_forward = library_call_of(node) == LIBRARY_CONVOLUTION && op_name_phase(node->op_name) == PHASE_FORWARD;
        if (!is_forward || !convolution_read(advisor, node, &c)) continue;
        if (is_by_examples(advisor, split, is_batch_split, c.output)) continue;
        bool is_by_feature = c.taken == 1 && c.features > 1;
        if (!is_by_feature) add_input(advisor, c.input, leaves, &sum);
        sum.outputs += (double)array_shape_bytes(&advisor->graph.leaves[c.output]);
        sum.is_in_loop |= bytes_contains(node->op_name, BYTES("while/body"));
        sum.is_nested |= bytes_contains(node->op_name, BYTES("jvp(jvp"));
    }
    return sum;
}

static int64_t at_end(const struct advisor *advisor, const struct pictures *sum) {
    const double much = 0.5, on_their_way = 2;
    bool is_most = sum->inputs + sum->outputs > much * (double)advisor->what_if.total_bytes;
    if (!is_most || sum->is_in_loop || sum->is_nested) return 0;
    return what_if_bytes(sum->inputs + sum->outputs / (double)advisor->request.ways +
                         on_their_way * sum->largest_input);
}

bool whole_pictures_find(const struct advisor *advisor, const struct sharding_split *split, bool is_batch_split,
                         struct whole_pictures *whole) {
    size_t count = advisor->graph.leaf_count + 1u;
    *whole = (struct whole_pictures){.leaves = arena_new(advisor->arena, uint8_t, count)};
    if (!whole->leaves) return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for what is convolved");
    if (advisor->is_for_gpu && is_batch_split) mark_groups(advisor, whole->leaves);
    if (!advisor->is_for_gpu || !advisor->roles.is_training || !split->is_by_features) return true;
    struct pictures sum = mark_inputs(advisor, &split->flow, is_batch_split, whole->leaves);
    if (is_batch_split) return true;
    whole->at_end_bytes = at_end(advisor, &sum);
    if (!whole->at_end_bytes) memset(whole->leaves, 0, count);
    return true;
}
