// Who calls a computation that has arrays of its own: loops, branches, fusions, calls, asynchronous operations.
//
//     %f = fusion(%a), calls=%body   caller[body] = f         %r = reduce(..), to_apply=%add   caller[add] = HLO_NONE
//
// Of several callers the first in the program.
#pragma once

#include "analysis/program/program_graph.h"

// Of each computation: a node, or HLO_NONE. NULL at the arena's limit.
uint32_t *callers_find(const struct program_graph *graph, struct arena *arena);

bool node_is_loop_or_branch(const struct graph_node *node);

// Does it give on, as it is, what its body made, or its operands?
bool node_hands_on(const struct graph_node *node);

// A fusion or a call: it stands for its body, which runs once.
bool node_stands_for_body(const struct graph_node *node);

// The operation that the schedule has for node `index`: the outermost fusion or call around it, or itself. `caller`:
// of callers_find.
uint32_t callers_scheduled(const struct program_graph *graph, const uint32_t *caller, uint32_t index);
