#include "analysis/advice/dimension_flow.h"

#include "analysis/advice/dimension_ties.h"

void dimension_flow_run(struct dimension_flow *flow) {
    uint32_t count = flow->graph->node_count;
    flow->has_changed = true;
    for (int pass = 0; pass < FLOW_PASSES_MAX && flow->has_changed; pass++) {
        flow->has_changed = false;
        for (uint32_t i = 0; i < count; i++) dimension_ties_apply(flow, pass % 2 ? count - 1 - i : i);
    }
}

bool dimension_flow_is_contracted(const struct dimension_flow *flow) {
    for (uint32_t i = 0; i < flow->graph->node_count; i++) {
        if (dimension_ties_is_contracted(flow, &flow->graph->nodes[i])) return true;
    }
    return false;
}
