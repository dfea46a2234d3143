#include "analysis/advice/saved_products.h"

#include "analysis/advice/weight_products.h"

enum { KINDS_MAX = 64 };

struct kind {  // products of one shape
    const struct array_shape *shape;
    uint32_t count;
    double bytes;  // of one
};

static void add_product(const struct advisor *advisor, const struct weight_product *product,
                        struct kind kinds[KINDS_MAX], int *count) {
    const struct array_shape *shape = &advisor->graph.leaves[product->result];
    int at = 0;
    while (at < *count && !array_same_dimensions(kinds[at].shape, shape)) at++;
    if (at == KINDS_MAX) return;
    if (at == *count)
        kinds[(*count)++] = (struct kind){.shape = shape, .bytes = weight_product_bytes(advisor, product)};
    kinds[at].count++;
}

// The first or the last may lack it; one alone is of the head.
static bool is_of_blocks(const struct kind *kind, double blocks, bool is_looped) {
    return is_looped || (kind->count > 1 && kind->count + 1 >= blocks);
}

// Does the innermost loop around it stack nothing of the batch up? Then nothing waits there for a backward pass: layers
// of a net that nobody trains.
static bool is_kept_by_no_loop(const struct advisor *advisor, uint32_t index) {
    enum { DEPTH_MAX = 32 };
    for (int i = 0; i < DEPTH_MAX && index != HLO_NONE; i++) {
        index = advisor->caller[advisor->graph.nodes[index].computation];
        if (index != HLO_NONE && advisor->graph.nodes[index].opcode == OPCODE_WHILE)
            return !advisor->is_stacking[index];
    }
    return false;
}

double saved_products_bytes(const struct advisor *advisor, double blocks, int64_t stream_bytes, bool is_looped) {
    struct kind kinds[KINDS_MAX];
    int count = 0;
    double bytes = 0, unread = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!weight_product_read(advisor, i, &product) || product.is_repeated != is_looped) continue;
        if (!is_looped || !is_kept_by_no_loop(advisor, i)) add_product(advisor, &product, kinds, &count);
    }
    for (int k = 0; k < count; k++) {
        if (!is_of_blocks(&kinds[k], blocks, is_looped)) continue;
        bytes += kinds[k].bytes * (is_looped ? blocks * kinds[k].count : kinds[k].count);
        if (kinds[k].bytes == (double)stream_bytes) unread = kinds[k].bytes * blocks;
    }
    return unread < bytes ? bytes - unread : bytes;
}
