#include "analysis/advice/gathered.h"

#include "analysis/advice/weight_products.h"

#define AT_ONCE_WITHOUT_TRAINING 0.5

int64_t gathered_weights_bytes(const struct advisor *advisor) {
    double all = 0, most_of_a_turn = 0;
    struct weight_product product;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        if (!weight_product_read(advisor, i, &product) || product.weight == HLO_NONE) continue;
        int64_t bytes = array_shape_bytes(&advisor->graph.leaves[product.weight]);
        if (bytes <= 0) continue;
        if (!product.is_in_loop)
            all += (double)bytes;
        else if ((double)bytes > most_of_a_turn)
            most_of_a_turn = (double)bytes;
    }
    return what_if_bytes((advisor->roles.is_training ? all : AT_ONCE_WITHOUT_TRAINING * all) + most_of_a_turn);
}

// `bits_most`: of an element.
static int64_t gradients_and_operands(const struct advisor *advisor, int bits_most) {
    double bytes = 0;
    struct weight_product product;
    for (uint32_t i = 0; i < advisor->graph.node_count && advisor->roles.is_training; i++) {
        if (!weight_product_read(advisor, i, &product) || product.is_in_loop) continue;
        const struct array_shape *shape = &advisor->graph.leaves[product.activation];
        double part = shape->element_bits > bits_most ? (double)bits_most / shape->element_bits : 1;
        int64_t activation = array_shape_bytes(shape);
        bytes += part * weight_product_bytes(advisor, &product);
        if (activation > 0) bytes += part * (double)activation / (double)advisor->request.ways;
    }
    return what_if_bytes(bytes);
}

int64_t gathered_gradients_bytes(const struct advisor *advisor) {
    enum { AS_THEY_ARE = 1 << 16 };
    return gradients_and_operands(advisor, AS_THEY_ARE);
}

struct waiting_bytes gathered_on_tpu(const struct advisor *advisor, bool is_pooled, int64_t temporary_bytes) {
    enum { BF16_BITS = 16 };
    int64_t all = is_pooled ? gathered_gradients_bytes(advisor) : gradients_and_operands(advisor, BF16_BITS);
    double beyond = all > temporary_bytes ? (double)(all - temporary_bytes) : 0;
    return is_pooled ? (struct waiting_bytes){0, what_if_bytes(0.5 * beyond), what_if_bytes(1.4 * beyond)}
                     : (struct waiting_bytes){0, what_if_bytes(0.15 * beyond), what_if_bytes(0.9 * beyond)};
}

int64_t unfused_product_bytes(const struct advisor *advisor) {
    double largest = 0;
    struct weight_product product;
    for (uint32_t i = 0; i < advisor->graph.node_count && !advisor->roles.is_training; i++) {
        if (!weight_product_read(advisor, i, &product) || !product.is_fused) continue;
        double bytes = weight_product_bytes(advisor, &product);
        if (bytes > largest) largest = bytes;
    }
    return what_if_bytes(largest);
}
