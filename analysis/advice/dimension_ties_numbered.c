#include "analysis/advice/dimension_tie_list.h"
#include "analysis/advice/dimension_ties.h"
#include "analysis/program/library_call.h"
#include "proto/hlo_fields.h"
#include "proto/wire.h"

// --- dot: result dimensions are the batch ones, then what is left of the left, then of the right operand ---

static void add_free(struct dimension_tie_list *list, const struct dimension_flow *flow, uint32_t operand,
                     unsigned taken, uint32_t result, int *at) {
    for (int d = 0; d < flow_leaf(flow, operand)->rank; d++) {
        if (!(taken >> d & 1)) dimension_tie_list_add(list, operand, d, result, (*at)++);
    }
}

// What the operands share with each other.
static void add_shared(struct dimension_tie_list *list, const struct dot_numbers *n, uint32_t left, uint32_t right) {
    for (int i = 0; i < n->contracted_count; i++)
        dimension_tie_list_add_summed(list, left, n->contracted_left[i], right, n->contracted_right[i]);
    for (int i = 0; i < n->batch_count; i++)
        dimension_tie_list_add(list, left, n->batch_left[i], right, n->batch_right[i]);
}

static void tie_product(struct dimension_flow *flow, const struct dot_numbers *n, uint32_t left, uint32_t right,
                        uint32_t result) {
    if (left == HLO_NONE || right == HLO_NONE) return;
    struct dimension_tie_list list = {0};
    add_shared(&list, n, left, right);
    for (int i = 0; i < n->batch_count; i++) {
        dimension_tie_list_add(&list, left, n->batch_left[i], result, i);
        dimension_tie_list_add(&list, right, n->batch_right[i], result, i);
    }
    int at = n->batch_count;
    unsigned batch_left = dimension_bits(n->batch_left, n->batch_count),
             batch_right = dimension_bits(n->batch_right, n->batch_count);
    add_free(&list, flow, left, dimension_bits(n->contracted_left, n->contracted_count) | batch_left, result, &at);
    add_free(&list, flow, right, dimension_bits(n->contracted_right, n->contracted_count) | batch_right, result, &at);
    dimension_tie_list_apply(flow, &list);
}

void dimension_ties_of_dot(struct dimension_flow *flow, const struct graph_node *node) {
    struct dot_numbers numbers;
    if (!dot_numbers_of(node, &numbers) || !node->leaf_count) return;
    tie_product(flow, &numbers, flow_operand_leaf(flow, node, 0), flow_operand_leaf(flow, node, 1), node->first_leaf);
}

// --- convolution ---

struct convolved {  // leaves
    uint32_t input, kernel, output;
};

// A library's custom call for a gradient has the array that it makes elsewhere.
static struct convolved convolved_by(const struct dimension_flow *flow, const struct graph_node *node) {
    uint32_t a = flow_operand_leaf(flow, node, 0), b = flow_operand_leaf(flow, node, 1), made = node->first_leaf;
    enum library_call call = library_call_of(node);
    if (call == LIBRARY_CONVOLUTION_INPUT) return (struct convolved){made, b, a};
    if (call == LIBRARY_CONVOLUTION_KERNEL) return (struct convolved){a, made, b};
    return (struct convolved){a, b, made};
}

static int64_t size_of(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return flow_has_dimension(flow, leaf, dimension) ? flow_leaf(flow, leaf)->dimensions[dimension] : 0;
}

// XLA:TPU writes dots as convolutions. A spatial dimension stands for a batch dimension of the dot when it has the same
// size in all three arrays, for a free or a contracted one when it has in two of them.
static void add_spatial(struct dimension_tie_list *list, const struct dimension_flow *flow, struct convolved c,
                        struct bytes numbers) {
    int in[ARRAY_RANK_MAX], kernel[ARRAY_RANK_MAX], out[ARRAY_RANK_MAX];
    int count = dimension_numbers_read(numbers, CONVOLUTION_INPUT_SPATIAL, in);
    if (dimension_numbers_read(numbers, CONVOLUTION_KERNEL_SPATIAL, kernel) != count) return;
    if (dimension_numbers_read(numbers, CONVOLUTION_OUTPUT_SPATIAL, out) != count) return;
    for (int i = 0; i < count; i++) {
        bool is_summed = size_of(flow, c.input, in[i]) != size_of(flow, c.output, out[i]);
        dimension_tie_list_add(list, c.input, in[i], c.output, out[i]);
        dimension_tie_list_add(list, c.kernel, kernel[i], c.output, out[i]);
        if (is_summed)
            dimension_tie_list_add_summed(list, c.input, in[i], c.kernel, kernel[i]);
        else
            dimension_tie_list_add(list, c.input, in[i], c.kernel, kernel[i]);
    }
}

void dimension_ties_of_convolution(struct dimension_flow *flow, const struct graph_node *node) {
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_CONVOLUTION);
    struct convolved c = convolved_by(flow, node);
    if (!node->leaf_count || c.input == HLO_NONE || c.kernel == HLO_NONE || c.output == HLO_NONE || !numbers.size)
        return;
    struct dimension_tie_list list = {0};
    dimension_tie_list_add(&list, c.input, dimension_number_read(numbers, CONVOLUTION_INPUT_BATCH), c.output,
                           dimension_number_read(numbers, CONVOLUTION_OUTPUT_BATCH));
    dimension_tie_list_add_summed(&list, c.input, dimension_number_read(numbers, CONVOLUTION_INPUT_FEATURE), c.kernel,
                                  dimension_number_read(numbers, CONVOLUTION_KERNEL_INPUT_FEATURE));
    dimension_tie_list_add(&list, c.kernel, dimension_number_read(numbers, CONVOLUTION_KERNEL_OUTPUT_FEATURE), c.output,
                           dimension_number_read(numbers, CONVOLUTION_OUTPUT_FEATURE));
    add_spatial(&list, flow, c, numbers);
    dimension_tie_list_apply(flow, &list);
}

// --- Calls of libraries: results are tuples that end with a workspace, which is nobody's dimension ---

// What is added to a product, and what is kept of it before an activation.
static void tie_extras(struct dimension_flow *flow, const struct graph_node *node) {
    for (uint32_t i = 2; i < node->operand_count; i++) {
        uint32_t operand = flow_operand_leaf(flow, node, i);
        if (operand != HLO_NONE) dimension_tie_all(flow, operand, node->first_leaf);
    }
    for (uint32_t k = 1; k < node->leaf_count; k++) dimension_tie_all(flow, node->first_leaf, node->first_leaf + k);
}

// mixed [batch, heads, queries, size], its statistics [batch, heads, queries].
static void tie_attention(struct dimension_flow *flow, const struct graph_node *node) {
    struct dot_numbers scores, mixed;
    uint32_t query = flow_operand_leaf(flow, node, 0), key = flow_operand_leaf(flow, node, 1);
    uint32_t value = flow_operand_leaf(flow, node, 2), made = node->first_leaf;
    if (query == HLO_NONE || key == HLO_NONE || value == HLO_NONE || !dot_numbers_of_attention(node, &scores, &mixed))
        return;
    struct dimension_tie_list list = {0};
    int free_query = scores.batch_count, free_value = mixed.batch_count + 1;
    add_shared(&list, &scores, query, key);
    for (int i = 0; i < scores.batch_count; i++) dimension_tie_list_add(&list, query, scores.batch_left[i], made, i);
    for (int i = 0; i < mixed.batch_count; i++) dimension_tie_list_add(&list, value, mixed.batch_right[i], made, i);
    add_free(&list, flow, query,
             dimension_bits(scores.batch_left, scores.batch_count) |
                 dimension_bits(scores.contracted_left, scores.contracted_count),
             made, &free_query);
    add_free(&list, flow, value,
             dimension_bits(mixed.batch_right, mixed.batch_count) |
                 dimension_bits(mixed.contracted_right, mixed.contracted_count),
             made, &free_value);
    dimension_tie_list_apply(flow, &list);
    for (int d = 0; d < 3 && node->leaf_count > 1; d++) dimension_tie(flow, made, d, made + 1, d);
}

// cuDNN wants the batch in front of all of them.
static void tie_in_front(struct dimension_flow *flow, const struct graph_node *node) {
    uint32_t first = node->first_leaf;
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = flow_operand_leaf(flow, node, i);
        if (operand != HLO_NONE && flow_leaf(flow, operand)->rank > 2) dimension_tie(flow, operand, 0, first, 0);
    }
    for (uint32_t k = 1; k < node->leaf_count; k++) {
        if (flow_leaf(flow, first + k)->rank > 2) dimension_tie(flow, first, 0, first + k, 0);
    }
}

bool dimension_ties_of_library_call(struct dimension_flow *flow, const struct graph_node *node) {
    enum library_call call = library_call_of(node);
    if (call == LIBRARY_NONE || !node->leaf_count) return false;
    if (call == LIBRARY_ATTENTION) tie_attention(flow, node);
    if (call == LIBRARY_ATTENTION || call == LIBRARY_ATTENTION_BACKWARD) {
        tie_in_front(flow, node);
        return true;
    }
    if (call == LIBRARY_PRODUCT)
        dimension_ties_of_dot(flow, node);
    else
        dimension_ties_of_convolution(flow, node);
    if (call == LIBRARY_PRODUCT || call == LIBRARY_CONVOLUTION) tie_extras(flow, node);
    return true;
}

// --- What they sum over ---

static bool has_mark(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    return leaf != HLO_NONE && dimension < ARRAY_RANK_MAX && (flow->marks[leaf] >> dimension & 1);
}

static bool sums_over_product(const struct dimension_flow *flow, const struct graph_node *node) {
    struct dot_numbers n;
    bool is_marked = false;
    uint32_t left = flow_operand_leaf(flow, node, 0);
    for (int i = 0; dot_numbers_of(node, &n) && i < n.contracted_count; i++)
        is_marked |= has_mark(flow, left, n.contracted_left[i]);
    return is_marked;
}

static bool sums_over_convolution(const struct dimension_flow *flow, const struct graph_node *node) {
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_CONVOLUTION);
    struct convolved c = convolved_by(flow, node);
    if (!node->leaf_count) return false;
    if (library_call_of(node) == LIBRARY_CONVOLUTION_KERNEL)
        return has_mark(flow, c.input, dimension_number_read(numbers, CONVOLUTION_INPUT_BATCH));
    if (library_call_of(node) == LIBRARY_CONVOLUTION_INPUT)
        return has_mark(flow, c.output, dimension_number_read(numbers, CONVOLUTION_OUTPUT_FEATURE));
    return has_mark(flow, c.input, dimension_number_read(numbers, CONVOLUTION_INPUT_FEATURE)) ||
           has_mark(flow, c.kernel, dimension_number_read(numbers, CONVOLUTION_KERNEL_INPUT_FEATURE));
}

bool dimension_ties_is_contracted(const struct dimension_flow *flow, const struct graph_node *node) {
    if (!library_call_is_product(node)) return false;
    bool is_dot = node->opcode == OPCODE_DOT || library_call_of(node) == LIBRARY_PRODUCT;
    return is_dot ? sums_over_product(flow, node) : sums_over_convolution(flow, node);
}

static bool has_both(const struct dimension_flow *flow, uint32_t a, int of_a, uint32_t b, int of_b) {
    return has_mark(flow, a, of_a) && has_mark(flow, b, of_b);
}

bool dimension_ties_is_summed_in_parts(const struct dimension_flow *flow, const struct graph_node *node) {
    struct dot_numbers n;
    struct bytes numbers = wire_find_message(node->message, HLO_INSTRUCTION_CONVOLUTION);
    struct convolved c = convolved_by(flow, node);
    uint32_t left = flow_operand_leaf(flow, node, 0), right = flow_operand_leaf(flow, node, 1);
    bool is_product = library_call_is_product(node) && dot_numbers_of(node, &n), is_summed = false;
    for (int i = 0; is_product && i < n.contracted_count; i++)
        is_summed |= has_both(flow, left, n.contracted_left[i], right, n.contracted_right[i]);
    if (is_product || !library_call_is_product(node)) return is_summed;
    return has_both(flow, c.input, dimension_number_read(numbers, CONVOLUTION_INPUT_FEATURE), c.kernel,
                    dimension_number_read(numbers, CONVOLUTION_KERNEL_INPUT_FEATURE));
}
