#include "analysis/profile/steps/step_loops.h"

#include <stdlib.h>

static int compare_executors(const void *a, const void *b) {
    const struct step_executor *left = a, *right = b;
    if (left->run != right->run) return left->run < right->run ? -1 : 1;
    if (left->iter_num != right->iter_num) return left->iter_num < right->iter_num ? -1 : 1;
    if (left->begin_ps != right->begin_ps) return left->begin_ps < right->begin_ps ? -1 : 1;
    return (left->node > right->node) - (left->node < right->node);
}

static int compare_ids(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static int compare_iterations(const void *a, const void *b) {
    const struct loop_iteration *left = a, *right = b;
    if (left->begin_ps != right->begin_ps) return left->begin_ps < right->begin_ps ? -1 : 1;
    return (left->first > right->first) - (left->first < right->first);
}

static bool is_pipeline(const struct step_graph *graph, uint64_t run) {
    return graph->pipeline_count &&
           bsearch(&run, graph->pipelines.data, graph->pipeline_count, sizeof run, compare_ids);
}

// One past the executors of the run that starts at `at`.
static size_t run_end(const struct step_executor *executors, size_t at, size_t count) {
    size_t end = at;
    while (end < count && executors[end].run == executors[at].run) end++;
    return end;
}

static void add_iterations(struct step_loops *loops, size_t from, size_t to) {
    const struct step_executor *executors = loops->executors;
    for (size_t at = from; at < to;) {
        size_t end = at;
        while (end < to && executors[end].iter_num == executors[at].iter_num) end++;
        loops->iterations[loops->iteration_count++] = (struct loop_iteration){
            executors[at].iter_num, executors[at].begin_ps, executors[at].duration_ps, at, end};
        at = end;
    }
}

bool step_loops_find(struct step_graph *graph, struct arena *arena, struct step_loops *loops) {
    struct step_executor *executors = graph->executors.data;
    size_t count = graph->executor_count;
    *loops = (struct step_loops){.executors = executors};
    loops->iterations = arena_new(arena, struct loop_iteration, count);
    if (!loops->iterations) return false;
    if (graph->pipeline_count) qsort(graph->pipelines.data, graph->pipeline_count, sizeof(uint64_t), compare_ids);
    if (count) qsort(executors, count, sizeof *executors, compare_executors);
    for (size_t at = 0; at < count;) {
        size_t end = run_end(executors, at, count);
        bool has_loop = executors[at].iter_num != 0 || executors[end - 1].iter_num != 0;
        if (has_loop && !is_pipeline(graph, executors[at].run)) add_iterations(loops, at, end);
        at = end;
    }
    if (loops->iteration_count)
        qsort(loops->iterations, loops->iteration_count, sizeof *loops->iterations, compare_iterations);
    return true;
}

bool step_loops_reach(const struct step_loops *loops, struct step_reach *reach, const struct loop_iteration *iteration,
                      int32_t label) {
    int32_t first = reach->label[loops->executors[iteration->first].node];
    for (size_t i = iteration->first; i < iteration->end; i++) {
        uint32_t node = loops->executors[i].node;
        if (reach->label[node] < 0 && !step_reach_from(reach, node, first >= 0 ? first : label)) return false;
    }
    return true;
}
