#include "analysis/advice/dimension_flow.h"

#include "analysis/advice/dimension_ties.h"

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

void dimension_flow_run(struct dimension_flow *flow) {
    uint32_t count = flow->graph->node_count;
    flow->has_changed = true;
    for (int pass = 0; pass < FLOW_PASSES_MAX && flow->has_changed; pass++) {
        flow->has_changed = false;
        for (uint32_t i = 0; i < count; i++) dimension_ties_apply(flow, pass % 2 ? count - 1 - i : i);
    }
}

bool dimension_flow_has_marks(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->leaf_count; i++) {
        if (flow->marks[i]) return true;
    }
    return false;
}

bool dimension_flow_is_contracted(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        if (dimension_ties_is_contracted(flow, &flow->graph->nodes[i])) return true;
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
