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

double saved_products_bytes(const struct advisor *advisor, double blocks, bool is_looped) {
    struct kind kinds[KINDS_MAX];
    int count = 0;
    double bytes = 0;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (weight_product_read(advisor, i, &product) && product.is_repeated == is_looped)
            add_product(advisor, &product, kinds, &count);
    }
    for (int k = 0; k < count; k++) {
        bool is_of_blocks = is_looped || kinds[k].count + 1 >= blocks;  // the first or the last may lack it
        if (is_of_blocks) bytes += kinds[k].bytes * kinds[k].count * (is_looped ? blocks : 1);
    }
    return bytes;
}
