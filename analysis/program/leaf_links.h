// Which leaves are one and the same array handed on: through tuples, calls, loops, asynchronous pairs.
//
//     %t = tuple(%a, %b)        a -> t[0], b -> t[1]
//     %f = fusion(%a), %body    a -> body's parameter 0; body's root -> f
//     %w = while(%t), %body     t -> w, w -> body's parameter, body's root -> w
#pragma once

#include "analysis/program/program_graph.h"

// Leaves first_from + i and first_to + i are the same, for i < count.
typedef void leaf_link(void *context, uint32_t first_from, uint32_t first_to, uint32_t count);

// Calls `link` for each of the node's links, in the direction of the data. False for an operation that computes
// something of its own.
bool leaf_links_visit(const struct program_graph *graph, uint32_t node, leaf_link *link, void *context);
