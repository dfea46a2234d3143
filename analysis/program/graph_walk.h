// An order to walk a program in, so that what follows values from operation to operation gets far in one pass: each
// body stands where it is called, between two visits of its caller.
//
//     entry   %a  %f = fusion   %b        walk   %a  %f  %p  %root  %f  %b
//     body    %p  %root
//
// The file may have its computations in any order; that of libtpu has the bodies of late layers before those of early
// ones, so that a pass in the file's order follows one fusion and no more. What nothing calls from the entry comes
// last. A body that several call stands where the first does.
#pragma once

#include "analysis/program/program_graph.h"

// Fills graph->walk. False at the arena's limit.
MUST_USE bool graph_walk_make(struct program_graph *graph, struct arena *arena);
