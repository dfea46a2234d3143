// Is what was taken for the batch the edges of a graph? What the forward pass does with rows that follow it, tells:
//
//     messages [edges,256] = gather(x [nodes,256], ends [edges])           it reads nodes along the edges
//     sums     [nodes,256] = scatter-add(messages [edges,256], other ends)  and adds up at nodes
//
// XLA:GPU turns such sums around, [256,nodes], so the dimension is the one that the ends address. And it fuses what
// edges have: labels of nodes reach more bytes then, and where these were taken for the batch, the ends replace them.
//
// Nodes are found by their number, which an input has: one of their features; or, where edges also read as many, one of
// their kinds. Or weights have a row for each: nodes that are learnt are read and added up to alike, and the sums must
// have a gradient, which is read along the edges again, as the counts of a codebook's words have none.
//
// Several graphs that were joined have inputs with a row for each: two of one number of rows, or one whose rows are
// found to be made of equal numbers of nodes (each molecule's energy is a sum over its 29 atoms), or that nodes are
// added up to. Where nothing tells, the numbers of edges and of nodes may have a common divisor: so many graphs of one
// size, or fewer, may be joined, or it is one. Nodes that are learnt are those of one graph.
#pragma once

#include "analysis/advice/role_finder.h"

// Where the nodes were taken for the batch, as their labels reach more than the ends of edges do: those, an input.
// HLO_NONE: what follows the batch is neither read along other rows nor added up from as many.
uint32_t edges_and_nodes_ends(const struct finder *finder);

// Sets is_graph, graphs and graphs_most of the roles; the nodes and the graphs follow the edges then. False at the
// arena's limit.
MUST_USE bool edges_and_nodes_find(struct finder *finder, struct arena *arena);
