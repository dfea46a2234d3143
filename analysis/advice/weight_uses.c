#include "analysis/advice/weight_uses.h"

#include "analysis/advice/weight_products.h"

uint32_t weight_looked_up(const struct advisor *advisor, uint32_t index) {
    const struct graph_node *node = &advisor->graph.nodes[index];
    return node->opcode == OPCODE_GATHER ? flow_operand_leaf(&advisor->batch, node, 0) : HLO_NONE;
}

static bool has_elements(const struct weight_uses *uses, int64_t elements) {
    for (uint32_t i = 0; i < uses->count; i++) {
        if (uses->elements[i] == elements) return true;
    }
    return false;
}

static void note(const struct advisor *advisor, uint32_t leaf, struct weight_uses *uses) {
    int64_t elements = leaf == HLO_NONE ? 0 : array_shape_elements(&advisor->graph.leaves[leaf]);
    if (elements > 0 && uses->count < WEIGHT_USES_MAX && !has_elements(uses, elements))
        uses->elements[uses->count++] = elements;
}

struct weight_uses weight_uses_find(const struct advisor *advisor) {
    struct weight_uses uses = {.count = 0};
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        note(advisor, weight_looked_up(advisor, i), &uses);
        if (weight_product_read(advisor, i, &product)) note(advisor, product.weight, &uses);
    }
    return uses;
}

bool weight_is_only_added(const struct weight_uses *uses, const struct array_shape *shape) {
    bool is_known = uses->count > 0 && uses->count < WEIGHT_USES_MAX;  // none is told of what may have been left out
    return shape->rank == 2 && is_known && !has_elements(uses, array_shape_elements(shape));
}
