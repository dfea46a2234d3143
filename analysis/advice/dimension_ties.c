#include "analysis/advice/dimension_ties.h"

#include "analysis/advice/fetched.h"
#include "analysis/program/leaf_links.h"
#include "analysis/program/library_call.h"
#include "analysis/program/op_name.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

static void tie_linked(void *context, uint32_t first_from, uint32_t first_to, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) dimension_tie_all(context, first_from + i, first_to + i);
}

// --- Dimensions moved about ---

static void tie_mapped(struct dimension_flow *flow, const struct graph_node *node, bool is_transpose) {
    int map[ARRAY_RANK_MAX];
    int count = dimension_numbers_read(node->message, HLO_INSTRUCTION_DIMENSIONS, map);
    uint32_t operand = flow_operand_leaf(flow, node, 0);
    if (operand == HLO_NONE || node->leaf_count != 1) return;
    if (!is_transpose && flow->level < FLOW_ALL && flow->marks[operand]) return;  // only back
    for (int i = 0; i < count; i++) {
        if (is_transpose)
            dimension_tie(flow, operand, map[i], node->first_leaf, i);
        else
            dimension_tie(flow, operand, i, node->first_leaf, map[i]);
    }
}

static void tie_reduce(struct dimension_flow *flow, const struct graph_node *node) {
    int reduced[ARRAY_RANK_MAX];
    int count = dimension_numbers_read(node->message, HLO_INSTRUCTION_DIMENSIONS, reduced);
    unsigned is_reduced = 0;
    for (int i = 0; i < count; i++) is_reduced |= reduced[i] < ARRAY_RANK_MAX ? 1u << reduced[i] : 0;
    for (uint32_t i = 0; i < node->leaf_count; i++) {
        uint32_t operand = flow_operand_leaf(flow, node, i);
        if (operand == HLO_NONE) continue;
        int result = 0;
        if (i > 0 && flow_operand_leaf(flow, node, 0) != HLO_NONE)
            dimension_tie_all(flow, operand, flow_operand_leaf(flow, node, 0));
        for (int d = 0; d < flow_leaf(flow, operand)->rank; d++) {
            if (!(is_reduced >> d & 1)) dimension_tie(flow, operand, d, node->first_leaf + i, result++);
        }
    }
}

// XLA:TPU pads the indices of a gather or a scatter to 1024 of them, and cuts the padding off inside.
static bool is_padding_of_indices(const struct dimension_flow *flow, const struct graph_node *node) {
    enum { INDICES = 1024 };
    uint32_t operand = flow_operand_leaf(flow, node, 0);
    if (operand == HLO_NONE || node->leaf_count != 1 || !array_is(flow_leaf(flow, node->first_leaf))) return false;
    const struct array_shape *from = flow_leaf(flow, operand), *to = flow_leaf(flow, node->first_leaf);
    if (from->rank != 1 || to->rank != 1) return false;
    int64_t larger = from->dimensions[0] > to->dimensions[0] ? from->dimensions[0] : to->dimensions[0];
    struct bytes made_for = op_name_primitive(node->op_name);
    return larger % INDICES == 0 &&
           (bytes_contains(made_for, BYTES("gather")) || bytes_contains(made_for, BYTES("scatter")));
}

// What the compiler fetches in slices has no name of the user's. Of products that meet the same weight, as those of
// micro-batches that are written one after the other, it makes one, and cuts that (DotMerger in
// xla/hlo/transforms/simplifiers/dot_merger.cc).
static bool is_users_cut(const struct graph_node *node) {
    struct bytes primitive = op_name_primitive(node->op_name);
    return bytes_equal(primitive, BYTES("concatenate")) || bytes_equal(primitive, BYTES("slice")) ||
           bytes_equal(primitive, BYTES("split")) || bytes_equal(primitive, BYTES("pad")) ||
           bytes_equal(primitive, BYTES("dot_general"));
}

// A batch, or lengths: chips share what is joined in their own way.
static bool follows_joined(const struct dimension_flow *flow) {
    return flow->ties_joined || flow->follows_cuts;
}

static int joined_dimension(const struct dimension_flow *flow, const struct graph_node *node, uint32_t i) {
    uint32_t operand = flow_operand_leaf(flow, node, i);
    int d = operand == HLO_NONE ? -1 : dimension_differing(flow, operand, node->first_leaf);
    return d >= 0 && flow_is_marked(flow, operand, d) ? d : -1;
}

// Where parts that are all marked are joined; -1: no such.
static int joined_along(const struct dimension_flow *flow, const struct graph_node *node) {
    int64_t joined = 0;
    int along = node->operand_count > 1 && node->leaf_count == 1 ? joined_dimension(flow, node, 0) : -1;
    for (uint32_t i = 0; along >= 0 && i < node->operand_count; i++) {
        if (joined_dimension(flow, node, i) != along) return -1;
        joined += flow_leaf(flow, flow_operand_leaf(flow, node, i))->dimensions[along];
    }
    return along >= 0 && joined == flow_leaf(flow, node->first_leaf)->dimensions[along] ? along : -1;
}

// Queries and passages of other lengths that one encoder reads meet the same weights: XLA makes one product of theirs.
static void tie_parts(struct dimension_flow *flow, const struct graph_node *node) {
    int along = joined_along(flow, node);
    for (uint32_t i = 0; along >= 0 && i < node->operand_count; i++)
        dimension_flow_mark_joined(flow, flow_operand_leaf(flow, node, i), node->first_leaf, along);
    uint32_t whole = flow_operand_leaf(flow, node, 0);
    int cut = node->operand_count == 1 && whole != HLO_NONE ? dimension_differing(flow, whole, node->first_leaf) : -1;
    if (cut >= 0) dimension_tie_part(flow, whole, node->first_leaf, cut);
}

// Of a reshape XLA:TPU makes a bitcast of whole tiles, twelve rows in sixteen, and cuts the padding off after it.
static bool is_padded_to_tile(const struct graph_node *node, int64_t a, int64_t b) {
    enum { SUBLANES = 8, TILE = 16 };
    int64_t larger = a > b ? a : b, smaller = a > b ? b : a, tile = larger % TILE == 0 ? TILE : SUBLANES;
    return larger % tile == 0 && larger - smaller < tile && larger != smaller && smaller > TILE / 2 &&
           bytes_equal(op_name_primitive(node->op_name), BYTES("reshape"));
}

// XLA:GPU pads what cuBLAS multiplies to a multiple of eight, 20 rows to 24, and cuts the padding off the product
// (CublasPadForGemms in xla/service/gpu/transforms/cublas_pad_for_gemms.cc).
static bool is_padded_for_library(const struct graph_node *node, int64_t a, int64_t b) {
    enum { MULTIPLE = 8 };
    int64_t larger = a > b ? a : b, smaller = a > b ? b : a;
    return larger % MULTIPLE == 0 && larger != smaller && larger - smaller < MULTIPLE && smaller >= larger / 2 &&
           bytes_equal(op_name_primitive(node->op_name), BYTES("dot_general"));
}

static bool is_dynamic(const struct graph_node *node) {
    return node->opcode == OPCODE_DYNAMIC_SLICE || node->opcode == OPCODE_DYNAMIC_UPDATE_SLICE;
}

// The dimension that a loop takes one of at a time is never split with it; parts that are cut or joined are asked late.
static void tie_resized(struct dimension_flow *flow, const struct graph_node *node, uint32_t operand, uint32_t leaf) {
    bool has_parts = !flow->ties_parts || (flow->level >= FLOW_SUMMED && !is_dynamic(node));
    for (int d = 0; d < flow_leaf(flow, leaf)->rank; d++) {
        int64_t from = flow_leaf(flow, operand)->dimensions[d], to = flow_leaf(flow, leaf)->dimensions[d];
        if (is_padded_to_tile(node, from, to) || is_padded_for_library(node, from, to))
            dimension_tie_padded(flow, operand, d, leaf, d);
        else if (has_parts)
            dimension_tie_cut(flow, operand, d, leaf, d);
        else
            dimension_tie(flow, operand, d, leaf, d);
    }
    if (flow->ties_joined && is_users_cut(node)) dimension_tie_joined(flow, operand, leaf);
}

// Of a Fourier transform, what is as large before as after it.
static void tie_transformed(struct dimension_flow *flow, const struct graph_node *node) {
    uint32_t operand = flow_operand_leaf(flow, node, 0);
    if (operand == HLO_NONE || node->leaf_count != 1) return;
    if (flow_leaf(flow, operand)->rank != flow_leaf(flow, node->first_leaf)->rank) return;
    for (int d = 0; d < flow_leaf(flow, operand)->rank; d++) dimension_tie(flow, operand, d, node->first_leaf, d);
}

// The same rank: dimensions of the same size correspond, in operands and result, and parts when they are asked for.
static void tie_resizing(struct dimension_flow *flow, const struct graph_node *node) {
    if (node->opcode == OPCODE_FFT) return tie_transformed(flow, node);
    if (is_padding_of_indices(flow, node)) {
        dimension_tie_padded(flow, flow_operand_leaf(flow, node, 0), 0, node->first_leaf, 0);
        return;
    }
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = flow_operand_leaf(flow, node, i);
        if (operand == HLO_NONE) continue;
        for (uint32_t k = 0; k < node->leaf_count; k++) {
            uint32_t leaf = node->first_leaf + k;
            if (flow_leaf(flow, operand)->rank != flow_leaf(flow, leaf)->rank) continue;
            bool is_only_into_it = flow->level < FLOW_KEPT;
            if (is_only_into_it && flow->marks[leaf]) continue;
            tie_resized(flow, node, operand, leaf);
        }
    }
    if (follows_joined(flow)) tie_parts(flow, node);
}

// --- Reshapes ---

enum { FACTORS_MAX = 2 * ARRAY_RANK_MAX };

struct factor {
    int64_t size;
    int dimension;
    double start;  // the product of the factors of its dimension before it
};

struct factors {  // larger than one, the most major first
    struct factor at[FACTORS_MAX];
    int count;
};

static void add_factor(struct factors *factors, int64_t size, int dimension, double start) {
    if (size != 1 && factors->count < FACTORS_MAX)
        factors->at[factors->count++] = (struct factor){size, dimension, start};
}

static struct factors logical_factors(const struct array_shape *shape) {
    struct factors factors = {0};
    for (int d = 0; d < shape->rank; d++) add_factor(&factors, shape->dimensions[d], d, 1);
    return factors;
}

static int64_t tile_of(const struct array_shape *shape, int minor) {
    return minor < shape->tile_rank && shape->tile[minor] > 1 ? shape->tile[minor] : 1;
}

// f32[4,1024]{1,0:T(4,128)} lies in memory as 8 tiles of 4 x 128: the outer parts of all dimensions, then the tile's.
static struct factors physical_factors(const struct array_shape *shape) {
    struct factors factors = {0};
    for (int minor = shape->rank - 1; minor >= 0; minor--) {
        int64_t tile = tile_of(shape, minor), size = shape->dimensions[shape->minor_to_major[minor]];
        add_factor(&factors, tile == 1 ? size : size / tile + (size % tile != 0), shape->minor_to_major[minor], 1);
    }
    for (int minor = shape->rank - 1; minor >= 0; minor--) {
        int64_t tile = tile_of(shape, minor), size = shape->dimensions[shape->minor_to_major[minor]];
        int64_t tiles = tile > 1 ? size / tile + (size % tile != 0) : 0;
        if (tile > 1) add_factor(&factors, tile, shape->minor_to_major[minor], (double)tiles);
    }
    return factors;
}

static bool is_marked(const struct dimension_flow *flow, uint32_t leaf, const struct factor *factor) {
    if (!(flow->marks[leaf] >> factor->dimension & 1)) return false;
    double start = dimension_flow_start(flow, leaf, factor->dimension);
    return start >= factor->start && start < factor->start * (double)factor->size;
}

// Chips share no factor behind a whole one, seven columns of two windows: a dimension that the user made of several is
// split in front or not at all (TensorFactorShardings::createTensorShardingAttr in
// shardy/dialect/sdy/transforms/propagation/sharding_projection.cc; openxla/shardy a0277a83). Examples and heads in
// front of a product were two dimensions still when the partitioner saw them, as were places and heads that XLA:GPU
// joined for the product alone.
static bool may_be_inside(const struct dimension_flow *flow, const struct graph_node *node, uint32_t leaf,
                          int dimension) {
    if (!flow->chips || (dimension == 0 && flow_leaf(flow, leaf)->rank > 1)) return true;
    return bytes_equal(op_name_primitive(node->op_name), BYTES("dot_general"));
}

// Factors [first, end) of one side and of the other have the same product: a mark goes to the factor that holds the
// start of the marked one, unless the other side is marked already.
static void tie_group(struct dimension_flow *flow, const struct graph_node *node, uint32_t leaf_a,
                      const struct factors *a, int first_a, int end_a, uint32_t leaf_b, const struct factors *b,
                      int first_b, int end_b) {
    for (int j = first_b; j < end_b; j++) {
        if (is_marked(flow, leaf_b, &b->at[j])) return;
    }
    double start_a = 1;
    for (int i = first_a; i < end_a; start_a *= (double)a->at[i++].size) {
        const struct factor *from = &a->at[i];
        if (!is_marked(flow, leaf_a, from)) continue;
        double start = start_a * dimension_flow_start(flow, leaf_a, from->dimension) / from->start, start_b = 1;
        int j = first_b;
        while (j < end_b - 1 && start_b * (double)b->at[j].size <= start) start_b *= (double)b->at[j++].size;
        int into = b->at[j].dimension;
        if (start > start_b && !may_be_inside(flow, node, leaf_b, into)) continue;
        dimension_flow_mark_factor(flow, leaf_b, into, b->at[j].start * start / start_b);
    }
}

static void tie_reshaped(struct dimension_flow *flow, const struct graph_node *node, uint32_t leaf_a, uint32_t leaf_b,
                         bool is_physical) {
    const struct array_shape *shape_a = flow_leaf(flow, leaf_a), *shape_b = flow_leaf(flow, leaf_b);
    struct factors a = is_physical ? physical_factors(shape_a) : logical_factors(shape_a);
    struct factors b = is_physical ? physical_factors(shape_b) : logical_factors(shape_b);
    int i = 0, j = 0;
    while (i < a.count && j < b.count) {
        int first_a = i, first_b = j;
        double product_a = (double)a.at[i++].size, product_b = (double)b.at[j++].size;
        while (product_a != product_b) {
            if (product_a < product_b && i < a.count)
                product_a *= (double)a.at[i++].size;
            else if (product_b < product_a && j < b.count)
                product_b *= (double)b.at[j++].size;
            else
                return;  // not the same elements: a bitcast between element types, padding
        }
        tie_group(flow, node, leaf_a, &a, first_a, i, leaf_b, &b, first_b, j);
        tie_group(flow, node, leaf_b, &b, first_b, j, leaf_a, &a, first_a, i);
    }
}

static void tie_reshape(struct dimension_flow *flow, const struct graph_node *node, bool is_physical) {
    uint32_t operand = flow_operand_leaf(flow, node, 0);
    if (operand == HLO_NONE || node->leaf_count != 1 || !array_is(flow_leaf(flow, node->first_leaf))) return;
    if (flow->marks[operand] || flow->marks[node->first_leaf])
        tie_reshaped(flow, node, operand, node->first_leaf, is_physical);
}

// --- Everything else ---

// Keys and what is sorted by them are as many. Chips do not share what is only counted, as the places of an argsort.
static void tie_sorted(struct dimension_flow *flow, const struct graph_node *node) {
    for (uint32_t k = 1; k < node->leaf_count && !flow->chips; k++)
        dimension_tie_all(flow, node->first_leaf, node->first_leaf + k);
}

// Operands and results of the same dimensions correspond.
static void tie_alike(struct dimension_flow *flow, const struct graph_node *node) {
    enum { LEAVES_MAX = 16 };
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = graph_operand(flow->graph, node, i);
        if (operand == HLO_NONE) continue;
        const struct graph_node *from = &flow->graph->nodes[operand];
        bool is_pairwise = node->leaf_count == node->operand_count && node->leaf_count > 1;
        for (uint32_t k = 0; k < node->leaf_count && k < LEAVES_MAX && !is_pairwise; k++) {
            for (uint32_t l = 0; l < from->leaf_count && l < LEAVES_MAX; l++)
                dimension_tie_all(flow, from->first_leaf + l, node->first_leaf + k);
        }
        if (is_pairwise && from->leaf_count == 1) dimension_tie_all(flow, from->first_leaf, node->first_leaf + i);
    }
    if (node->opcode == OPCODE_SORT) tie_sorted(flow, node);
}

// The compiler fetches a large array in slices and puts them together again with a custom call: its result is the
// array that the slices were cut from, which stands a few operations above.
static void tie_sliced(struct dimension_flow *flow, const struct graph_node *node) {
    const struct graph_node *from = node;
    for (int i = 0; i < FETCHED_CHAIN_MAX && node->leaf_count == 1; i++) {
        uint32_t operand = graph_operand(flow->graph, from, 0);
        if (operand == HLO_NONE) return;
        from = &flow->graph->nodes[operand];
        if (from->leaf_count == 1) dimension_tie_all(flow, from->first_leaf, node->first_leaf);
        if (!fetched_goes_on(from)) return;
    }
}

static void tie_custom_call(struct dimension_flow *flow, const struct graph_node *node) {
    if (dimension_ties_of_library_call(flow, node)) return;
    tie_sliced(flow, node);
    tie_alike(flow, node);
}

static void tie_rows(struct dimension_flow *flow, const struct graph_node *node) {
    if (node->opcode == OPCODE_GATHER)
        dimension_ties_of_gather(flow, node);
    else
        dimension_ties_of_scatter(flow, node);
}

// Has it dimensions that not all of its arrays have?
static bool is_of_several(const struct graph_node *node) {
    return node->opcode == OPCODE_BROADCAST || node->opcode == OPCODE_REDUCE || node->opcode == OPCODE_DOT ||
           node->opcode == OPCODE_CONVOLUTION || node->opcode == OPCODE_GATHER || node->opcode == OPCODE_SCATTER ||
           node->opcode == OPCODE_RESIZING || library_call_of(node) != LIBRARY_NONE;
}

void dimension_ties_apply(struct dimension_flow *flow, uint32_t index) {
    const struct graph_node *node = &flow->graph->nodes[index];
    if (flow->level < FLOW_KEPT && is_of_several(node)) return;
    switch (node->opcode) {
        case OPCODE_PARAMETER:
        case OPCODE_CONSTANT:
        case OPCODE_IOTA:
        case OPCODE_OUTFEED:
            return;
        case OPCODE_TUPLE:
        case OPCODE_GET_TUPLE_ELEMENT:
        case OPCODE_FUSION:
        case OPCODE_CALL:
        case OPCODE_WHILE:
        case OPCODE_CONDITIONAL:
        case OPCODE_ASYNC_START:
        case OPCODE_ASYNC_DONE:
            leaf_links_visit(flow->graph, index, tie_linked, flow);
            return;
        case OPCODE_BROADCAST:
        case OPCODE_TRANSPOSE:
            tie_mapped(flow, node, node->opcode == OPCODE_TRANSPOSE);
            return;
        case OPCODE_RESHAPE:
        case OPCODE_BITCAST:
            tie_reshape(flow, node, node->opcode == OPCODE_BITCAST);
            return;
        case OPCODE_REDUCE:
            tie_reduce(flow, node);
            return;
        case OPCODE_DOT:
            dimension_ties_of_dot(flow, node);
            return;
        case OPCODE_CONVOLUTION:
            dimension_ties_of_convolution(flow, node);
            return;
        case OPCODE_GATHER:
        case OPCODE_SCATTER:
            tie_rows(flow, node);
            return;
        case OPCODE_FFT:
        case OPCODE_RESIZING:
        case OPCODE_DYNAMIC_SLICE:
        case OPCODE_DYNAMIC_UPDATE_SLICE:
            tie_resizing(flow, node);
            return;
        case OPCODE_CUSTOM_CALL:
            tie_custom_call(flow, node);
            return;
        case OPCODE_OTHER:
        case OPCODE_SORT:
        case OPCODE_CONVERT:
        case OPCODE_COPY:
        case OPCODE_COPY_START:
        case OPCODE_COPY_DONE:
            tie_alike(flow, node);
            return;
    }
}
