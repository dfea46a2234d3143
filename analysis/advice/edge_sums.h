// What the chips of a TPU that share the edges of a graph have whole: sums at nodes, one of them at a time.
//
//     messages [edges/4,256] -- scatter-add --> [nodes,256] on each chip, of its edges    \ both at once
//                                               [nodes,256] of all chips' edges           /
//                                            -> [nodes/4,256]
//
// And in the backward pass the gradients of what edges read: [nodes,256] again, or as many rows as edges, where they
// read each other. Everything else is split as the edges are, unless columns of weights come first (batch_reach.h).
// Seen in modules that libtpu partitioned (docs/advice.md). Says nothing of edges that stay whole, nor of GPUs.
#pragma once

#include "analysis/advice/advisor.h"

// Of the largest such sum: what both take beside the chip's share of it.
int64_t edge_sums_bytes(const struct advisor *advisor);
