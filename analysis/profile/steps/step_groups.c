// Roots to groups: CreateEventGroups, RootNeedsGrouping and ProcessTensorFlowLoop of XProf's group_events.cc.
#include <stdlib.h>

#include "analysis/profile/steps/step_loops.h"
#include "analysis/profile/steps/step_reach.h"

enum { MAX_LEVELS = 16 };  // roots of further levels are taken as having no root above them

// A larger level first, then by time, then as found.
static int compare_roots(const void *a, const void *b) {
    const struct step_root *left = a, *right = b;
    if (left->level != right->level) return left->level > right->level ? -1 : 1;
    if (left->begin_ps != right->begin_ps) return left->begin_ps < right->begin_ps ? -1 : 1;
    return (left->node > right->node) - (left->node < right->node);
}

static int compare_ids(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

// A root that an input pipeline ran is no step.
static void drop_pipeline_roots(struct step_graph *graph) {
    struct step_root *roots = graph->roots.data;
    size_t kept = 0;
    if (graph->pipeline_count == 0) return;
    qsort(graph->pipelines.data, graph->pipeline_count, sizeof(uint64_t), compare_ids);
    for (size_t i = 0; i < graph->root_count; i++) {
        bool is_pipeline = roots[i].has_run && bsearch(&roots[i].run, graph->pipelines.data, graph->pipeline_count,
                                                       sizeof(uint64_t), compare_ids);
        if (!is_pipeline) roots[kept++] = roots[i];
    }
    graph->root_count = kept;
}

// Marks the roots (of one level, [from, to)) that another root of that level leads to: they are part of its group.
static bool mark_inner_roots(struct step_reach *reach, const struct step_root *roots, size_t from, size_t to,
                             uint8_t *is_inner) {
    step_reach_forget(reach);
    for (size_t i = from; i < to; i++) {
        if (reach->label[roots[i].node] < 0 && !step_reach_below(reach, roots[i].node, 0)) return false;
    }
    for (size_t i = from; i < to; i++) is_inner[i] = reach->label[roots[i].node] >= 0;
    return true;
}

static bool mark_all_inner_roots(struct step_reach *reach, const struct step_root *roots, size_t count,
                                 uint8_t *is_inner) {
    size_t from = 0;
    for (int level = 0; from < count && level < MAX_LEVELS; level++) {
        size_t to = from;
        while (to < count && roots[to].level == roots[from].level) to++;
        if (to - from > 1 && !mark_inner_roots(reach, roots, from, to, is_inner)) return false;
        from = to;
    }
    step_reach_forget(reach);
    return true;
}

static struct step_group group_of(const struct step_root *root, size_t id, bool has_name) {
    return (struct step_group){
        .metadata_id = root->metadata_id,
        .number = root->has_number ? root->number : (int64_t)id,
        .has_name = has_name,
        .begin_ps = root->begin_ps,
        .end_ps = (int64_t)((uint64_t)root->begin_ps + (uint64_t)root->duration_ps),
    };
}

static bool group_by_roots(struct step_graph *graph, struct step_reach *reach, struct arena *arena,
                           struct step_groups *groups) {
    drop_pipeline_roots(graph);
    struct step_root *roots = graph->roots.data;
    size_t count = graph->root_count;
    uint8_t *is_inner = arena_new(arena, uint8_t, count);
    groups->groups = arena_new(arena, struct step_group, count);
    if (!is_inner || !groups->groups) return false;
    if (count) qsort(roots, count, sizeof *roots, compare_roots);
    if (!mark_all_inner_roots(reach, roots, count, is_inner)) return false;
    for (size_t i = 0; i < count && groups->count < INT32_MAX; i++) {
        if (is_inner[i] || reach->label[roots[i].node] >= 0) continue;
        groups->groups[groups->count] = group_of(&roots[i], groups->count, true);
        if (!step_reach_from(reach, roots[i].node, (int32_t)groups->count)) return false;
        groups->count++;
    }
    return true;
}

// With loops each iteration is a group, and user's roots are not looked at.
static bool group_by_loops(struct step_reach *reach, const struct step_loops *loops, struct arena *arena,
                           struct step_groups *groups) {
    groups->groups = arena_new(arena, struct step_group, loops->iteration_count);
    if (!groups->groups) return false;
    for (size_t i = 0; i < loops->iteration_count && i < INT32_MAX; i++) {
        const struct loop_iteration *iteration = &loops->iterations[i];
        struct step_root root = {.begin_ps = iteration->begin_ps,
                                 .duration_ps = iteration->duration_ps,
                                 .has_number = true,
                                 .number = (int64_t)iteration->iter_num};
        groups->groups[groups->count++] = group_of(&root, i, false);
        if (!step_loops_reach(loops, reach, iteration, (int32_t)i)) return false;
    }
    return true;
}

bool step_graph_group(struct step_graph *graph, struct arena *arena, struct step_groups *groups) {
    struct step_reach reach;
    struct step_loops loops = {0};
    *groups = (struct step_groups){0};
    bool ok = step_reach_init(&reach, graph) && (!graph->keeps_executors || step_loops_find(graph, arena, &loops));
    if (ok && loops.iteration_count)
        ok = group_by_loops(&reach, &loops, arena, groups);
    else if (ok)
        ok = group_by_roots(graph, &reach, arena, groups);
    groups->of_node = reach.label;
    groups->memory = reach.memory;
    reach.memory = (struct growing_block){0};
    step_reach_release(&reach);
    return ok;
}

void step_groups_release(struct step_groups *groups) {
    large_block_release(&groups->memory);
}
