// Which pass the stacks of loops are of. A loop stacks what it makes over its turns, in an array that begins before it:
//
//     zeros --fusion--> s0 --> while (forward) --> s0 --transpose--> t0 --> while (backward)
//                  \--> s1 --------------------------------------------------^
//
//     s0  of the forward pass: what its turns keep for the backward pass
//     s1  begins beside s0, in one fusion, but only a loop of the backward pass fills it: gradients, which blocks that
//         run again need too
//     t0  a copy of s0 in another order, made whole before the backward loop: goes where s0 goes
#pragma once

#include "analysis/advice/advisor.h"

enum stack_use { STACK_FORWARD = 1, STACK_BACKWARD = 2, STACK_COPY = 4 };  // bits: a loop of that pass takes it; a copy

// Bits for each leaf of the graph, on the advisor's arena; NULL at its limit.
uint8_t *loop_stacks_find(const struct advisor *advisor);
