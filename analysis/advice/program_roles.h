// What the inputs and outputs of a program are to its user.
//
//     inputs     0: f32[50257,768]   1: f32[768,2304] ...      97: s32[8,1024]
//                state               state                     data: follows the batch
//     outputs    0: f32[50257,768]   1: f32[768,2304] ...      96: f32[]
//                mirrors input 0     mirrors input 1
//
// An output mirrors the first input of the same shape and type that none before it mirrors: how JAX pairs donated
// buffers. In a training step (an op_name says transpose(jvp)) what is mirrored is state: weights and the optimizer's.
// The batch is dimension 0 of the data, or the next one that a loop does not take one of at a time: such are the steps
// of gradient accumulation or of time. Which input that is, is told by trying: the candidate whose marks reach most
// bytes of outputs and temporaries wins. `batch` may be given instead. Where nothing is trained, weights are candidates
// too, but lose: their dimension 0 is summed over, and is a later dimension of another input.
//
// What is neither state nor follows the batch, but is an array of floating numbers or of packed ones, are frozen
// weights. Bytes are candidates for the batch as other integers are, unless products of the forward pass sum over that
// dimension: it is a packed weight's then.
//
// Integers [1, length] of a step that trains are one example, which nothing can be made of fewer or parts of: what is
// followed in the batch's place is then its length, and `batch` is that.
//
// In a program that sums messages at nodes (segment_sum), the edges are taken for the batch, and the nodes follow with
// them: both are one graph, which cannot be halved. Unless all examples share it: then their rows reach more, and are
// the batch. Or it is several graphs that were joined: then inputs have a row for each of them, and these follow too
// (edges_and_nodes.h).
#pragma once

#include "analysis/advice/dimension_flow.h"
#include "analysis/advice/roles.h"

// `batch` is the user's, 0 for none. `flow` gets the marks of the batch dimension.
MUST_USE bool program_roles_find(const struct program_graph *graph, int64_t batch, struct arena *arena,
                                 struct program_roles *roles, struct dimension_flow *flow, struct error *error);
