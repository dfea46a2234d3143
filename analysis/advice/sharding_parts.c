#include "analysis/advice/sharding_parts.h"

#include "analysis/base/common_divisor.h"

// Of examples and heads in one dimension, 384 = 64 x 6, four chips share the six.
static int64_t shared_by(const struct dimension_flow *flow, uint32_t leaf, int dimension) {
    int64_t size = flow_leaf(flow, leaf)->dimensions[dimension];
    double start = flow_is_marked(flow, leaf, dimension) ? dimension_flow_start(flow, leaf, dimension) : 1;
    return common_divisor(start > 1 ? (int64_t)((double)size / start) : size, flow->chips);
}

// Of the marked dimensions, one is split, not two: what more chips share, the first of several. -1: none.
int sharding_parts_of(const struct dimension_flow *flow, uint32_t leaf, uint8_t marks, int64_t *parts) {
    const struct array_shape *shape = flow_leaf(flow, leaf);
    int split = -1;
    *parts = 1;
    for (int d = 0; d < shape->rank; d++) {
        if (!(marks >> d & 1) || shape->dimensions[d] <= 0) continue;
        int64_t shared = shared_by(flow, leaf, d);
        if (split >= 0 && shared <= *parts) continue;
        split = d;
        *parts = shared;
    }
    return split;
}

static int rest_of(const struct dimension_flow *flow, uint32_t leaf, int64_t *others) {
    return sharding_parts_of(flow->rest, leaf, flow->rest->marks[leaf], others);
}

// Among how many of the other chips a dimension beside `dimension` is split, where `parts` do not take all of them.
static int64_t others_of(const struct dimension_flow *flow, uint32_t leaf, int dimension, int64_t parts) {
    int64_t others = 1;
    int behind = flow->rest ? rest_of(flow, leaf, &others) : -1;
    return behind >= 0 && behind != dimension && parts * others <= flow->chips ? others : 1;
}

int64_t sharding_parts_shared(const struct dimension_flow *flow, uint32_t leaf, uint8_t marks) {
    int64_t parts;
    int d = sharding_parts_of(flow, leaf, marks, &parts);
    return parts * others_of(flow, leaf, d, parts);
}

// Into no more parts than divide it: of 720 = 9 x 80 columns on four chips come nine heads whole, of 480 = 6 x 80 six
// in two halves (compatiblePrefixNoConflictsWithinFactor in
// shardy/dialect/sdy/transforms/propagation/basic_factor_propagation.cc; openxla/shardy a0277a83).
struct array_shape sharding_parts_shape(const struct dimension_flow *flow, uint32_t leaf, uint8_t marks) {
    struct array_shape part = *flow_leaf(flow, leaf);
    int64_t parts;
    int d = sharding_parts_of(flow, leaf, marks, &parts);
    if (d >= 0) part.dimensions[d] /= parts;
    int64_t others = others_of(flow, leaf, d, parts);
    if (others > 1) part.dimensions[rest_of(flow, leaf, &others)] /= others;
    return part;
}
