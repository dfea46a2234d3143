#include "analysis/advice/dimension_ties.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

int dimension_numbers_read(struct bytes message, uint32_t field, int numbers[ARRAY_RANK_MAX]) {
    int count = 0;
    struct wire w = wire_open(message);
    for (struct wire_field f; wire_next(&w, &f);) {
        if (f.number != field) continue;
        struct wire packed = wire_open_packed(&f);
        if (f.type == WIRE_VARINT && count < ARRAY_RANK_MAX) numbers[count++] = (int)(f.value & 0xff);
        for (uint64_t n; wire_next_varint(&packed, &n) && count < ARRAY_RANK_MAX;) numbers[count++] = (int)(n & 0xff);
    }
    return count;
}

static unsigned bits_of(const int *numbers, int count) {
    unsigned bits = 0;
    for (int i = 0; i < count; i++) bits |= numbers[i] < ARRAY_RANK_MAX ? 1u << numbers[i] : 0;
    return bits;
}

static int number_of(struct bytes message, uint32_t field) {
    int numbers[ARRAY_RANK_MAX];
    return dimension_numbers_read(message, field, numbers) ? numbers[0] : 0;
}

// --- dot: result dimensions are the batch ones, then what is left of the left, then of the right operand ---

static void tie_free(struct dimension_flow *flow, uint32_t operand, unsigned taken, uint32_t result, int *at) {
    for (int d = 0; d < flow_leaf(flow, operand)->rank; d++) {
        if (!(taken >> d & 1)) dimension_tie(flow, operand, d, result, (*at)++);
    }
}

void dimension_ties_of_dot(struct dimension_flow *flow, const struct graph_node *node) {
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_DOT);
    int contracted_l[ARRAY_RANK_MAX], contracted_r[ARRAY_RANK_MAX], batch_l[ARRAY_RANK_MAX], batch_r[ARRAY_RANK_MAX];
    int contracted = dimension_numbers_read(numbers, DOT_LHS_CONTRACTING, contracted_l);
    int batches = dimension_numbers_read(numbers, DOT_LHS_BATCH, batch_l);
    uint32_t left = flow_operand_leaf(flow, node, 0), right = flow_operand_leaf(flow, node, 1);
    if (left == HLO_NONE || right == HLO_NONE || node->leaf_count != 1) return;
    if (dimension_numbers_read(numbers, DOT_RHS_CONTRACTING, contracted_r) != contracted) return;
    if (dimension_numbers_read(numbers, DOT_RHS_BATCH, batch_r) != batches) return;
    for (int i = 0; i < contracted; i++) dimension_tie(flow, left, contracted_l[i], right, contracted_r[i]);
    for (int i = 0; i < batches; i++) {
        dimension_tie(flow, left, batch_l[i], right, batch_r[i]);
        dimension_tie(flow, left, batch_l[i], node->first_leaf, i);
        dimension_tie(flow, right, batch_r[i], node->first_leaf, i);
    }
    int at = batches;
    tie_free(flow, left, bits_of(contracted_l, contracted) | bits_of(batch_l, batches), node->first_leaf, &at);
    tie_free(flow, right, bits_of(contracted_r, contracted) | bits_of(batch_r, batches), node->first_leaf, &at);
}

// --- convolution ---

// XLA:TPU writes dots as convolutions. A spatial dimension stands for a batch dimension of the dot when it has the same
// size in all three arrays, for a free or a contracted one when it has in two of them.
static void tie_spatial(struct dimension_flow *flow, const struct graph_node *node, struct bytes numbers) {
    int in[ARRAY_RANK_MAX], kernel[ARRAY_RANK_MAX], out[ARRAY_RANK_MAX];
    int count = dimension_numbers_read(numbers, CONVOLUTION_INPUT_SPATIAL, in);
    uint32_t left = flow_operand_leaf(flow, node, 0), right = flow_operand_leaf(flow, node, 1);
    if (dimension_numbers_read(numbers, CONVOLUTION_KERNEL_SPATIAL, kernel) != count) return;
    if (dimension_numbers_read(numbers, CONVOLUTION_OUTPUT_SPATIAL, out) != count) return;
    for (int i = 0; i < count; i++) {
        dimension_tie(flow, left, in[i], node->first_leaf, out[i]);
        dimension_tie(flow, right, kernel[i], node->first_leaf, out[i]);
        dimension_tie(flow, left, in[i], right, kernel[i]);
    }
}

void dimension_ties_of_convolution(struct dimension_flow *flow, const struct graph_node *node) {
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_CONVOLUTION);
    uint32_t left = flow_operand_leaf(flow, node, 0), right = flow_operand_leaf(flow, node, 1);
    if (left == HLO_NONE || right == HLO_NONE || node->leaf_count != 1 || !numbers.size) return;
    dimension_tie(flow, left, number_of(numbers, CONVOLUTION_INPUT_BATCH), node->first_leaf,
                  number_of(numbers, CONVOLUTION_OUTPUT_BATCH));
    dimension_tie(flow, left, number_of(numbers, CONVOLUTION_INPUT_FEATURE), right,
                  number_of(numbers, CONVOLUTION_KERNEL_INPUT_FEATURE));
    dimension_tie(flow, right, number_of(numbers, CONVOLUTION_KERNEL_OUTPUT_FEATURE), node->first_leaf,
                  number_of(numbers, CONVOLUTION_OUTPUT_FEATURE));
    tie_spatial(flow, node, numbers);
}

// --- What they sum over ---

static bool has_mark(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return leaf != HLO_NONE && dimension < ARRAY_RANK_MAX && (flow->marks[leaf] >> dimension & 1);
}

bool dimension_ties_is_contracted(const struct dimension_flow *flow, const struct graph_node *node) {
    if (node->opcode != OPCODE_DOT && node->opcode != OPCODE_CONVOLUTION) return false;
    uint32_t left = flow_operand_leaf(flow, node, 0), right = flow_operand_leaf(flow, node, 1);
    if (node->opcode == OPCODE_DOT) {
        struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_DOT);
        int contracted[ARRAY_RANK_MAX];
        int count = dimension_numbers_read(numbers, DOT_LHS_CONTRACTING, contracted);
        bool is_marked = false;
        for (int i = 0; i < count; i++) is_marked |= has_mark(flow, left, contracted[i]);
        return is_marked;
    }
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_CONVOLUTION);
    return has_mark(flow, left, number_of(numbers, CONVOLUTION_INPUT_FEATURE)) ||
           has_mark(flow, right, number_of(numbers, CONVOLUTION_KERNEL_INPUT_FEATURE));
}

// --- gather and scatter: window dimensions belong to the operand, the others to the indices ---

// `windows` of `big` (gather's result, scatter's updates) are the dimensions of `operand` that are not `dropped`.
static void tie_window(struct dimension_flow *flow, uint32_t operand, unsigned dropped, uint32_t big,
                       const int *windows, int count) {
    int at = 0;
    for (int d = 0; d < flow_leaf(flow, operand)->rank; d++) {
        if (!(dropped >> d & 1) && at < count) dimension_tie(flow, operand, d, big, windows[at++]);
    }
}

static void tie_indices(struct dimension_flow *flow, uint32_t indices, int vector, uint32_t big, unsigned windows) {
    int at = 0;
    for (int d = 0; d < flow_leaf(flow, big)->rank; d++) {
        if (windows >> d & 1) continue;
        if (at == vector) at++;
        dimension_tie(flow, indices, at++, big, d);
    }
}

void dimension_ties_of_gather(struct dimension_flow *flow, const struct graph_node *node) {
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_GATHER);
    int windows[ARRAY_RANK_MAX], collapsed[ARRAY_RANK_MAX], batching[ARRAY_RANK_MAX];
    int count = dimension_numbers_read(numbers, GATHER_OFFSET_DIMS, windows);
    unsigned dropped = bits_of(collapsed, dimension_numbers_read(numbers, GATHER_COLLAPSED_SLICE_DIMS, collapsed));
    dropped |= bits_of(batching, dimension_numbers_read(numbers, GATHER_OPERAND_BATCHING_DIMS, batching));
    uint32_t operand = flow_operand_leaf(flow, node, 0), indices = flow_operand_leaf(flow, node, 1);
    if (operand == HLO_NONE || indices == HLO_NONE || node->leaf_count != 1) return;
    tie_window(flow, operand, dropped, node->first_leaf, windows, count);
    tie_indices(flow, indices, number_of(numbers, GATHER_INDEX_VECTOR_DIM), node->first_leaf, bits_of(windows, count));
}

void dimension_ties_of_scatter(struct dimension_flow *flow, const struct graph_node *node) {
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_SCATTER);
    int windows[ARRAY_RANK_MAX], inserted[ARRAY_RANK_MAX], batching[ARRAY_RANK_MAX];
    int count = dimension_numbers_read(numbers, SCATTER_UPDATE_WINDOW_DIMS, windows);
    unsigned dropped = bits_of(inserted, dimension_numbers_read(numbers, SCATTER_INSERTED_WINDOW_DIMS, inserted));
    dropped |= bits_of(batching, dimension_numbers_read(numbers, SCATTER_INPUT_BATCHING_DIMS, batching));
    uint32_t operand = flow_operand_leaf(flow, node, 0), indices = flow_operand_leaf(flow, node, 1);
    uint32_t updates = flow_operand_leaf(flow, node, 2);
    if (operand == HLO_NONE || indices == HLO_NONE || updates == HLO_NONE || node->leaf_count != 1) return;
    dimension_tie_all(flow, operand, node->first_leaf);
    tie_window(flow, operand, dropped, updates, windows, count);
    tie_indices(flow, indices, number_of(numbers, SCATTER_INDEX_VECTOR_DIM), updates, bits_of(windows, count));
}
