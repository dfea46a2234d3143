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

int64_t gathered_gradients_bytes(const struct advisor *advisor) {
    double bytes = 0;
    struct weight_product product;
    for (uint32_t i = 0; i < advisor->graph.node_count && advisor->roles.is_training; i++) {
        if (!weight_product_read(advisor, i, &product) || product.is_in_loop) continue;
        int64_t activation = array_shape_bytes(&advisor->graph.leaves[product.activation]);
        bytes += weight_product_bytes(advisor, &product);
        if (activation > 0) bytes += (double)activation / (double)advisor->request.ways;
    }
    return what_if_bytes(bytes);
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
