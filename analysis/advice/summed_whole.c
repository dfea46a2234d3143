#include "analysis/advice/summed_whole.h"

#include "analysis/advice/live_bytes.h"
#include "analysis/advice/weight_products.h"
#include "analysis/hlo/element_type.h"
#include "analysis/program/callers.h"

static bool is_of_examples(const struct advisor *advisor, const struct dimension_flow *split,
                           const struct weight_product *product) {
    return dimension_flow_shared(split, &advisor->batch, product->result);
}

// Along the batch, outside of loops: within, what is carried and stacked is another matter. Along columns, where it is
// more than fast memory holds, of which GPUs have none.
static bool is_cut_after(const struct advisor *advisor, const struct dimension_flow *split,
                         const struct weight_product *product) {
    if (is_of_examples(advisor, split, product)) return !product->is_in_loop;
    return split->marks[product->result] &&
           weight_product_bytes(advisor, product) > (double)advisor->what_if.fast_bytes;
}

static bool is_summed_whole(const struct advisor *advisor, const struct dimension_flow *split, uint32_t index,
                            struct weight_product *product) {
    return weight_product_is_summed(advisor, split, index, product) && is_cut_after(advisor, split, product);
}

static bool is_maybe_twice(const struct advisor *advisor, const struct dimension_flow *split, uint32_t index,
                           struct weight_product *product) {
    return advisor->is_for_tpu && weight_product_is_summed(advisor, split, index, product) && !product->is_in_loop &&
           !split->marks[product->result] && flow_leaf(split, product->result)->element_type == ELEMENT_TYPE_F32;
}

// A gate, and what it opens for: XLA:GPU begins with the second while the first is summed.
static bool are_a_pair(const struct advisor *advisor, const struct weight_product *a, const struct weight_product *b) {
    const struct array_shape *leaves = advisor->graph.leaves;
    return advisor->is_for_gpu && array_same_dimensions(&leaves[a->result], &leaves[b->result]) &&
           weight_product_source(advisor, a->activation) == weight_product_source(advisor, b->activation);
}

static void find_largest(const struct advisor *advisor, const struct dimension_flow *split, const double *live_at,
                         double peak, struct summed_whole *whole) {
    double most = peak;
    struct weight_product product, before;
    bool is_first = true;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        if (!is_summed_whole(advisor, split, i, &product)) continue;
        double beside = live_at[callers_scheduled(&advisor->graph, advisor->caller, i)];
        double own = weight_product_bytes(advisor, &product);
        bool is_second = !is_first && are_a_pair(advisor, &before, &product);
        if (is_second) own += own - own / (double)advisor->request.ways;  // of the first, the chip's part is beside it
        before = product;
        is_first = false;
        if (beside <= 0 || beside + own <= most) continue;
        most = beside + own;
        *whole = (struct summed_whole){what_if_bytes(most - peak), what_if_bytes(own),
                                       is_of_examples(advisor, split, &product), 0};
    }
}

static int64_t find_twice(const struct advisor *advisor, const struct dimension_flow *split, const double *live_at,
                          double peak) {
    double most = peak;
    for (uint32_t i = 0; i < advisor->graph.node_count; i++) {
        struct weight_product product;
        if (!is_maybe_twice(advisor, split, i, &product)) continue;
        double beside = live_at[callers_scheduled(&advisor->graph, advisor->caller, i)];
        double own = (double)array_shape_bytes(flow_leaf(split, product.result));
        if (beside > 0 && beside + own > most) most = beside + own;
    }
    return what_if_bytes(most - peak);
}

bool summed_whole_find(struct advisor *advisor, const struct sharding_split *split, const int64_t *sizes,
                       struct summed_whole *whole) {
    double *live = live_bytes_after_events(advisor, sizes), *live_at = live ? live_bytes_at_nodes(advisor, live) : NULL;
    *whole = (struct summed_whole){0};
    if (!live_at)
        return error_set(advisor->error, ERROR_TOO_BIG, "no memory left for the heap of a program on several chips");
    double peak = live_bytes_most(advisor, live);
    find_largest(advisor, &split->flow, live_at, peak, whole);
    whole->twice_bytes = find_twice(advisor, &split->flow, live_at, peak);
    return true;
}
