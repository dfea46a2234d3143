#include "analysis/advice/dimension_marks.h"

bool dimension_flow_init(struct dimension_flow *flow, const struct program_graph *graph, struct arena *arena) {
    *flow = (struct dimension_flow){.graph = graph};
    flow->marks = arena_new(arena, uint8_t, graph->leaf_count);
    flow->is_blocked = arena_new(arena, uint8_t, graph->leaf_count);
    return flow->marks && flow->is_blocked;
}

void dimension_flow_clear(struct dimension_flow *flow) {
    if (flow->graph->leaf_count) memset(flow->marks, 0, flow->graph->leaf_count);
}

void dimension_flow_mark(struct dimension_flow *flow, uint32_t leaf, int dimension) {
    const struct array_shape *shape = &flow->graph->leaves[leaf];
    uint8_t bit = (uint8_t)(1u << dimension);
    if (!array_is(shape) || dimension >= shape->rank || flow->is_blocked[leaf] || (flow->marks[leaf] & bit)) return;
    if (flow->forbidden && (flow->forbidden[leaf] & bit)) return;
    flow->marks[leaf] |= bit;
    flow->has_changed = true;
}

void dimension_tie(struct dimension_flow *flow, uint32_t leaf_a, int a, uint32_t leaf_b, int b) {
    if (a >= flow_leaf(flow, leaf_a)->rank || b >= flow_leaf(flow, leaf_b)->rank) return;
    if (flow_leaf(flow, leaf_a)->dimensions[a] != flow_leaf(flow, leaf_b)->dimensions[b]) return;
    bool is_a = flow->marks[leaf_a] >> a & 1, is_b = flow->marks[leaf_b] >> b & 1;
    if (is_a && !is_b) dimension_flow_mark(flow, leaf_b, b);
    if (is_b && !is_a) dimension_flow_mark(flow, leaf_a, a);
}

void dimension_tie_all(struct dimension_flow *flow, uint32_t leaf_a, uint32_t leaf_b) {
    const struct array_shape *a = flow_leaf(flow, leaf_a);
    if (flow->marks[leaf_a] == flow->marks[leaf_b] || !array_same_dimensions(a, flow_leaf(flow, leaf_b))) return;
    for (int d = 0; d < a->rank; d++) dimension_tie(flow, leaf_a, d, leaf_b, d);
}

bool dimension_flow_has_marks(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->leaf_count; i++) {
        if (flow->marks[i]) return true;
    }
    return false;
}

struct array_shape dimension_flow_divided(const struct dimension_flow *flow, uint32_t leaf, int64_t ways) {
    struct array_shape shape = flow->graph->leaves[leaf];
    if (!array_is(&shape)) return shape;
    for (int d = 0; d < shape.rank; d++) {
        if (flow->marks[leaf] >> d & 1) shape.dimensions[d] = (shape.dimensions[d] + ways - 1) / ways;
    }
    return shape;
}
