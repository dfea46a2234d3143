// TensorFlow's loops inside a function: executors that tell an iteration. Where there is any, XProf makes each
// iteration of each function's run a group (ProcessTensorFlowLoop), started by the executor that began first.
#pragma once

#include "analysis/profile/steps/step_reach.h"

struct loop_iteration {
    uint64_t iter_num;
    int64_t begin_ps, duration_ps;  // of the first executor
    size_t first, end;              // executors, sorted by run and iteration
};

struct step_loops {
    const struct step_executor *executors;
    struct loop_iteration *iterations;  // by time
    size_t iteration_count;
};

// Sorts the graph's executors. False when there is no memory.
MUST_USE bool step_loops_find(struct step_graph *graph, struct arena *arena, struct step_loops *loops);

// Labels what the executors of the iteration reach: where somebody has been at the first before, as that one's.
MUST_USE bool step_loops_reach(const struct step_loops *loops, struct step_reach *reach,
                               const struct loop_iteration *iteration, int32_t label);
