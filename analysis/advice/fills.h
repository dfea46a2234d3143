// Arrays that are one value all over: zeros that a loop fills or adds to, what a mask is made of.
//
//     zeros f32[512,512]  -> h, the state of a loop over time, [batch, width]
//                         -> the sums of its weights' gradients, [width, width]
//
// XLA keeps one of as many as a program has of a shape (HloCSE in xla/service/hlo_cse.cc): what one of its users calls
// its first dimension is no news of the others. Found through fusions and tuples, not behind loops and branches, which
// may change it; no iota is one.
#pragma once

#include "analysis/program/program_graph.h"

// 1 for each leaf that is one. On the arena; NULL at its limit.
uint8_t *fills_find(const struct program_graph *graph, struct arena *arena);
