// What the compiler fetches in slices and puts together again with a custom call: the same array, elsewhere.
//
//     w f32[1792,7168] -> slice-start -> slice-done ... -> custom-call f32[1792,7168]    fetched from w
#pragma once

#include "analysis/program/program_graph.h"

enum { FETCHED_CHAIN_MAX = 8 };  // operations from the call to the array

// Is it one of the operations that stand between?
bool fetched_goes_on(const struct graph_node *node);

// Of such a call, the leaf of the array that the slices are of, some operations above; HLO_NONE: it is another one.
uint32_t fetched_from(const struct program_graph *graph, const struct graph_node *node);
