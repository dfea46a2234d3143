// gather and scatter: window dimensions belong to the operand, the others to the indices.
//
//     rows  = gather(table [32000,768], ids [8,512,1])     -> [8,512,768]     ids 0, 1 - rows 0, 1; table 1 - rows 2
//     terms = gather(logits [8,511,32000], at [8,511,3])   -> [8,511]         take_along_axis: logits 0, 1 - at 0, 1
//
// What operand and indices have in common, the partitioner is told; the compiler then writes it out as more numbers in
// each index, (example, place, word), as iotas, which a TPU's packs in bits (BatchedGatherScatterNormalizer in
// xla/service/batched_gather_scatter_normalizer.cc; openxla/xla 04058cc2). So where all but one of these address
// dimensions as large as some of the indices', they are taken for it. Where all of them do, as many rows are taken as
// there are: a batch is shuffled, x[jax.random.permutation(key, 32)], and what comes of it is the batch.
#include "analysis/advice/dimension_ties.h"
#include "analysis/program/library_call.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

struct indexed {
    uint32_t operand, indices, big;  // leaves; big: gather's result, scatter's updates
    unsigned windows, dropped;       // dimensions of `big` that are the operand's, and those of that which it has not
    int vector;                      // the indices' dimension of numbers
    int addressed[ARRAY_RANK_MAX], addressed_count;  // the operand's dimensions, for each of these numbers
    int batching[ARRAY_RANK_MAX], batching_count;    // what they have in common, of the operand
    int of_indices[ARRAY_RANK_MAX];                  // and of the indices
};

static unsigned bits_read(struct bytes message, uint32_t field) {
    int numbers[ARRAY_RANK_MAX];
    return dimension_bits(numbers, dimension_numbers_read(message, field, numbers));
}

// The dimension of `big` that the operand's is in a window; -1: it is dropped.
static int window_dimension(const struct indexed *by, int dimension) {
    int at = -1;
    if (by->dropped >> dimension & 1) return -1;
    for (int d = 0; d <= dimension; d++) {
        if (by->dropped >> d & 1) continue;
        do at++;
        while (at < ARRAY_RANK_MAX && !(by->windows >> at & 1));
    }
    return at < ARRAY_RANK_MAX ? at : -1;
}

static void tie_window(struct dimension_flow *flow, const struct indexed *by) {
    for (int d = 0; d < flow_leaf(flow, by->operand)->rank; d++) {
        int at = window_dimension(by, d);
        if (at >= 0) dimension_tie(flow, by->operand, d, by->big, at);
    }
}

static void tie_indices(struct dimension_flow *flow, const struct indexed *by) {
    int at = 0;
    if (!array_is(flow_leaf(flow, by->big))) return;
    for (int d = 0; d < flow_leaf(flow, by->big)->rank; d++) {
        if (by->windows >> d & 1) continue;
        if (at == by->vector) at++;
        dimension_tie(flow, by->indices, at++, by->big, d);
    }
}

// --- What operand and indices have in common ---

// The numbers, as they were before they were arranged in one row after the other.
static uint32_t numbers_leaf(const struct dimension_flow *flow, const struct graph_node *node) {
    enum { REARRANGED_MAX = 4 };
    uint32_t leaf = flow_operand_leaf(flow, node, 1);
    uint32_t at = graph_operand(flow->graph, node, 1);
    for (int i = 0; i < REARRANGED_MAX && leaf != HLO_NONE; i++) {
        const struct graph_node *made = &flow->graph->nodes[at];
        if (made->opcode != OPCODE_RESHAPE && made->opcode != OPCODE_BITCAST) break;
        leaf = flow_operand_leaf(flow, made, 0);
        at = graph_operand(flow->graph, made, 0);
    }
    return leaf;
}

// The first dimension of that size which is not taken yet; -1: none.
static int dimension_of_size(const struct array_shape *shape, int64_t size, unsigned taken) {
    for (int d = 0; d < shape->rank; d++) {
        if (shape->dimensions[d] == size && !(taken >> d & 1)) return d;
    }
    return -1;
}

// Sets `places`: of the numbers' dimensions, those that address what is as large; -1 for the others. How many they are.
static int find_written_out(const struct dimension_flow *flow, const struct indexed *by, uint32_t numbers,
                            int places[ARRAY_RANK_MAX]) {
    const struct array_shape *operand = flow_leaf(flow, by->operand), *of = flow_leaf(flow, numbers);
    unsigned taken = 0;
    int count = 0;
    for (int i = 0; i < by->addressed_count; i++) {
        bool is_there = by->addressed[i] < operand->rank;
        places[i] = is_there ? dimension_of_size(of, operand->dimensions[by->addressed[i]], taken) : -1;
        if (places[i] < 0) continue;
        taken |= 1u << places[i];
        count++;
    }
    return count;
}

static void tie_written_out(struct dimension_flow *flow, const struct graph_node *node, const struct indexed *by) {
    uint32_t numbers = numbers_leaf(flow, node);
    int places[ARRAY_RANK_MAX];
    int count = numbers == HLO_NONE ? 0 : find_written_out(flow, by, numbers, places);
    bool is_shuffled = flow->ties_joined && count == by->addressed_count;
    bool is_in_common = by->addressed_count > 1 && count == by->addressed_count - 1;
    if (!is_shuffled && !is_in_common) return;
    for (int i = 0; i < by->addressed_count; i++) {
        bool goes_on = places[i] >= 0 && (is_in_common || flow_is_marked(flow, by->operand, by->addressed[i]));
        if (goes_on) dimension_tie(flow, by->operand, by->addressed[i], numbers, places[i]);
    }
}

static void tie_indexed(struct dimension_flow *flow, const struct graph_node *node, const struct indexed *by) {
    if (by->operand == HLO_NONE || by->indices == HLO_NONE || by->big == HLO_NONE || node->leaf_count != 1) return;
    tie_window(flow, by);
    tie_indices(flow, by);
    for (int i = 0; i < by->batching_count; i++)
        dimension_tie(flow, by->operand, by->batching[i], by->indices, by->of_indices[i]);
    tie_written_out(flow, node, by);
}

// --- Where gather and scatter have the numbers of these dimensions ---

struct indexed_fields {
    uint32_t message, windows, without, addressed, vector, batching, of_indices;
};

static const struct indexed_fields gather_fields = {
    HLO_INSTRUCTION_GATHER,  GATHER_OFFSET_DIMS,           GATHER_COLLAPSED_SLICE_DIMS,       GATHER_START_INDEX_MAP,
    GATHER_INDEX_VECTOR_DIM, GATHER_OPERAND_BATCHING_DIMS, GATHER_START_INDICES_BATCHING_DIMS};
static const struct indexed_fields scatter_fields = {
    HLO_INSTRUCTION_SCATTER,  SCATTER_UPDATE_WINDOW_DIMS,  SCATTER_INSERTED_WINDOW_DIMS, SCATTER_DIMS_TO_OPERAND_DIMS,
    SCATTER_INDEX_VECTOR_DIM, SCATTER_INPUT_BATCHING_DIMS, SCATTER_INDICES_BATCHING_DIMS};

static struct indexed indexed_by(const struct dimension_flow *flow, const struct graph_node *node,
                                 const struct indexed_fields *fields, uint32_t big) {
    struct bytes numbers = wire_find_message(node->message, fields->message);
    struct indexed by = {.operand = flow_operand_leaf(flow, node, 0),
                         .indices = flow_operand_leaf(flow, node, 1),
                         .big = big,
                         .windows = bits_read(numbers, fields->windows),
                         .dropped = bits_read(numbers, fields->without) | bits_read(numbers, fields->batching),
                         .vector = dimension_number_read(numbers, fields->vector)};
    by.addressed_count = dimension_numbers_read(numbers, fields->addressed, by.addressed);
    by.batching_count = dimension_numbers_read(numbers, fields->batching, by.batching);
    int count = dimension_numbers_read(numbers, fields->of_indices, by.of_indices);
    if (count < by.batching_count) by.batching_count = count;
    return by;
}

void dimension_ties_of_gather(struct dimension_flow *flow, const struct graph_node *node) {
    uint32_t result = node->leaf_count ? node->first_leaf : HLO_NONE;
    struct indexed by = indexed_by(flow, node, &gather_fields, result);
    tie_indexed(flow, node, &by);
}

void dimension_ties_of_scatter(struct dimension_flow *flow, const struct graph_node *node) {
    struct indexed by = indexed_by(flow, node, &scatter_fields, flow_operand_leaf(flow, node, 2));
    if (by.operand != HLO_NONE && node->leaf_count == 1) dimension_tie_all(flow, by.operand, node->first_leaf);
    tie_indexed(flow, node, &by);
}

static bool is_written_in_part(const struct dimension_flow *flow, const struct indexed *by, int dimension) {
    const struct array_shape *operand = flow_leaf(flow, by->operand), *updates = flow_leaf(flow, by->big);
    if (dimension >= operand->rank) return false;
    int at = window_dimension(by, dimension);
    return at < 0 || at >= updates->rank || updates->dimensions[at] < operand->dimensions[dimension];
}

unsigned dimensions_scattered(const struct dimension_flow *flow, const struct graph_node *node) {
    struct indexed by = indexed_by(flow, node, &scatter_fields, flow_operand_leaf(flow, node, 2));
    unsigned dimensions = 0;
    if (by.operand == HLO_NONE || by.big == HLO_NONE) return 0;
    for (int i = 0; i < by.addressed_count; i++) {
        if (is_written_in_part(flow, &by, by.addressed[i])) dimensions |= 1u << by.addressed[i];
    }
    return dimensions;
}
