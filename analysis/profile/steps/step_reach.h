// Reaching through the step graph: every node that a node encloses, and through contexts what those start.
//
//     reach(start): sweep [start, subtree_end) -> contexts produced there -> sweep each consumer's run -> ...
//
// A node is reached once: who was there first keeps it (and with it all that it reaches, so a run that begins with a
// reached node is skipped whole). A context with many producers and many consumers connects nobody, as in XProf.
#pragma once

#include "analysis/profile/steps/step_graph.h"

struct step_reach {
    const struct step_graph *graph;
    int32_t *label;            // by node; -1: not reached
    uint8_t *is_context_done;  // by context
    struct growing_block memory, waiting;
    size_t waiting_count;
};

MUST_USE bool step_reach_init(struct step_reach *reach, const struct step_graph *graph);
void step_reach_release(struct step_reach *reach);
void step_reach_forget(struct step_reach *reach);  // all labels to -1

// Labels `start` and all that it reaches, where nobody has been. False when there is no memory.
MUST_USE bool step_reach_from(struct step_reach *reach, uint32_t start, int32_t label);

// Labels what `start` reaches, but not `start` itself unless something below leads back to it.
MUST_USE bool step_reach_below(struct step_reach *reach, uint32_t start, int32_t label);
