#include "analysis/advice/scoped_join.h"

#include "analysis/advice/module_scope.h"

#define MOST 0.8

// Bytes of each group's arrays that have a block by name.
static void sum_named(const struct advisor *advisor, const uint32_t *group_of_span, double named[RESIDUAL_GROUPS_MAX]) {
    for (uint32_t i = 0; i < advisor->what_if.replay.span_count; i++) {
        if (group_of_span[i] == HLO_NONE) continue;
        const struct hlo_buffer *buffer = &advisor->module->buffers[advisor->what_if.replay.spans[i].buffer];
        struct bytes scope = module_scope_of(advisor->graph.nodes[buffer->instruction].op_name);
        if (scope.size) named[group_of_span[i]] += (double)buffer->size_bytes;
    }
}

void scoped_join(const struct advisor *advisor, const uint32_t *group_of_span, struct residual_group *groups,
                 uint32_t group_count) {
    const double mostly = 0.5;
    double named[RESIDUAL_GROUPS_MAX] = {0}, all = 0, all_named = 0;
    sum_named(advisor, group_of_span, named);
    for (uint32_t g = 0; g < group_count; g++) {
        all += residual_group_bytes(&groups[g]);
        all_named += named[g];
    }
    for (uint32_t g = 0; g < group_count && all_named >= MOST * all; g++) {
        struct residual_group *group = &groups[g];
        if (group->is_block || named[g] <= mostly * residual_group_bytes(group)) continue;
        group->is_block = group->is_joined = true;
    }
}
