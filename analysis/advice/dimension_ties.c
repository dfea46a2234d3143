#include "analysis/advice/dimension_ties.h"

#include "analysis/program/leaf_links.h"
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

// The same rank: dimensions of the same size correspond, in operands and result.
static void tie_resizing(struct dimension_flow *flow, const struct graph_node *node) {
    for (uint32_t i = 0; i < node->operand_count; i++) {
        uint32_t operand = flow_operand_leaf(flow, node, i);
        if (operand == HLO_NONE) continue;
        for (uint32_t k = 0; k < node->leaf_count; k++) {
            uint32_t leaf = node->first_leaf + k;
            if (flow_leaf(flow, operand)->rank != flow_leaf(flow, leaf)->rank) continue;
            for (int d = 0; d < flow_leaf(flow, leaf)->rank; d++) dimension_tie(flow, operand, d, leaf, d);
        }
    }
}

// --- Reshapes ---

struct factors {  // the dimensions larger than one, the most major first
    int64_t sizes[ARRAY_RANK_MAX];
    int dimensions[ARRAY_RANK_MAX];
    int count;
};

static struct factors factors_of(const struct array_shape *shape, bool is_physical) {
    struct factors factors = {0};
    for (int i = 0; i < shape->rank; i++) {
        int d = is_physical ? shape->minor_to_major[shape->rank - 1 - i] : i;
        if (shape->dimensions[d] == 1) continue;
        factors.sizes[factors.count] = shape->dimensions[d];
        factors.dimensions[factors.count++] = d;
    }
    return factors;
}

// Factors [first, end) of one side and of the other have the same product: a mark goes to the factor that holds the
// start of the marked one, unless the other side is marked already.
static void tie_group(struct dimension_flow *flow, uint32_t leaf_a, const struct factors *a, int first_a, int end_a,
                      uint32_t leaf_b, const struct factors *b, int first_b, int end_b) {
    for (int j = first_b; j < end_b; j++) {
        if (flow->marks[leaf_b] >> b->dimensions[j] & 1) return;
    }
    double start_a = 1;
    for (int i = first_a; i < end_a; start_a *= (double)a->sizes[i++]) {
        if (!(flow->marks[leaf_a] >> a->dimensions[i] & 1)) continue;
        double start_b = 1;
        int j = first_b;
        while (j < end_b - 1 && start_b * (double)b->sizes[j] <= start_a) start_b *= (double)b->sizes[j++];
        dimension_flow_mark(flow, leaf_b, b->dimensions[j]);
    }
}

static void tie_reshaped(struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b, bool is_physical) {
    struct factors a = factors_of(flow_leaf(flow, leaf_a), is_physical);
    struct factors b = factors_of(flow_leaf(flow, leaf_b), is_physical);
    int i = 0, j = 0;
    while (i < a.count && j < b.count) {
        int first_a = i, first_b = j;
        double product_a = (double)a.sizes[i++], product_b = (double)b.sizes[j++];
        while (product_a != product_b) {
            if (product_a < product_b && i < a.count)
                product_a *= (double)a.sizes[i++];
            else if (product_b < product_a && j < b.count)
                product_b *= (double)b.sizes[j++];
            else
                return;  // not the same elements: a bitcast between element types, padding
        }
        tie_group(flow, leaf_a, &a, first_a, i, leaf_b, &b, first_b, j);
        tie_group(flow, leaf_b, &b, first_b, j, leaf_a, &a, first_a, i);
    }
}

static void tie_reshape(struct dimension_flow *flow, const struct graph_node *node, bool is_physical) {
    uint32_t operand = flow_operand_leaf(flow, node, 0);
    if (operand == HLO_NONE || node->leaf_count != 1 || !array_is(flow_leaf(flow, node->first_leaf))) return;
    if (flow->marks[operand] || flow->marks[node->first_leaf])
        tie_reshaped(flow, operand, node->first_leaf, is_physical);
}

// --- Everything else ---

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
}

// The compiler fetches a large array in slices and puts them together again with a custom call: its result is the
// array that the slices were cut from, which stands a few operations above.
static void tie_sliced(struct dimension_flow *flow, const struct graph_node *node) {
    enum { CHAIN_MAX = 8 };
    const struct graph_node *from = node;
    for (int i = 0; i < CHAIN_MAX && node->leaf_count == 1; i++) {
        uint32_t operand = graph_operand(flow->graph, from, 0);
        if (operand == HLO_NONE) return;
        from = &flow->graph->nodes[operand];
        if (from->leaf_count == 1) dimension_tie_all(flow, from->first_leaf, node->first_leaf);
        bool goes_on = from->opcode == OPCODE_ASYNC_DONE || from->opcode == OPCODE_ASYNC_START ||
                       from->opcode == OPCODE_RESIZING || from->opcode == OPCODE_COPY_DONE ||
                       from->opcode == OPCODE_COPY_START || from->opcode == OPCODE_BITCAST;
        if (!goes_on) return;
    }
}

void dimension_ties_apply(struct dimension_flow *flow, uint32_t index) {
    const struct graph_node *node = &flow->graph->nodes[index];
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
            dimension_ties_of_gather(flow, node);
            return;
        case OPCODE_SCATTER:
            dimension_ties_of_scatter(flow, node);
            return;
        case OPCODE_RESIZING:
        case OPCODE_DYNAMIC_UPDATE_SLICE:
            tie_resizing(flow, node);
            return;
        case OPCODE_CUSTOM_CALL:
            tie_sliced(flow, node);
            tie_alike(flow, node);
            return;
        case OPCODE_OTHER:
        case OPCODE_CONVERT:
        case OPCODE_COPY:
        case OPCODE_COPY_START:
        case OPCODE_COPY_DONE:
            tie_alike(flow, node);
            return;
    }
}
