#include "analysis/advice/saved_products.h"

#include "analysis/program/library_call.h"

enum { KINDS_MAX = 64 };

struct kind {  // products of one shape
    const struct array_shape *shape;
    uint32_t count;
    double bytes;  // of one
};

static bool follows_batch(const struct advisor *advisor, const struct graph_node *node, uint32_t operand) {
    uint32_t leaf = flow_operand_leaf(&advisor->batch, node, operand);
    return leaf != HLO_NONE && advisor->batch.marks[leaf];
}

static bool is_product_with_weight(const struct advisor *advisor, const struct graph_node *node) {
    if (!library_call_is_product(node) || !node->leaf_count || op_name_phase(node->op_name) != PHASE_FORWARD)
        return false;
    if (!bytes_equal(op_name_primitive(node->op_name), BYTES("dot_general"))) return false;
    return advisor->batch.marks[node->first_leaf] && follows_batch(advisor, node, 0) != follows_batch(advisor, node, 1);
}

// In the type that the activation has: the compiler may sum in a wider one.
static double bytes_of_product(const struct advisor *advisor, const struct graph_node *node) {
    uint32_t activation = flow_operand_leaf(&advisor->batch, node, follows_batch(advisor, node, 0) ? 0 : 1);
    const struct array_shape *result = &advisor->graph.leaves[node->first_leaf];
    int bits = advisor->graph.leaves[activation].element_bits;
    if (result->element_bits < bits) bits = result->element_bits;
    return (double)array_shape_elements(result) * bits / 8;
}

static void add_product(const struct advisor *advisor, const struct graph_node *node, struct kind kinds[KINDS_MAX],
                        int *count) {
    const struct array_shape *shape = &advisor->graph.leaves[node->first_leaf];
    int at = 0;
    while (at < *count && !array_same_dimensions(kinds[at].shape, shape)) at++;
    if (at == KINDS_MAX) return;
    if (at == *count) kinds[(*count)++] = (struct kind){.shape = shape, .bytes = bytes_of_product(advisor, node)};
    kinds[at].count++;
}

double saved_products_bytes(const struct advisor *advisor, double blocks, bool is_looped) {
    struct kind kinds[KINDS_MAX];
    int count = 0;
    double bytes = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        const struct graph_node *node = &advisor->graph.nodes[i];
        bool is_inside = bytes_contains(node->op_name, BYTES("while/body"));
        if (is_inside == is_looped && is_product_with_weight(advisor, node)) add_product(advisor, node, kinds, &count);
    }
    for (int k = 0; k < count; k++) {
        bool is_of_blocks = is_looped || kinds[k].count + 1 >= blocks;  // the first or the last may lack it
        if (is_of_blocks) bytes += kinds[k].bytes * kinds[k].count * (is_looped ? blocks : 1);
    }
    return bytes;
}
