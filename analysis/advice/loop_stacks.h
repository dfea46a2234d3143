// Which pass the stacks of loops are of. A loop stacks what it makes over its turns, in an array that begins before it:
//
//     zeros --fusion--> s0 --> while (forward) --> s0 --transpose--> t0 --> while (backward)
//                  \--> s1 --------------------------------------------------^
//
//     s0  of the forward pass: what its turns keep for the backward pass
//     s1  begins beside s0, in one fusion, but only a loop of the backward pass fills it: gradients, which blocks that
//         run again need too
//     t0  a copy of s0 in another order, made whole before the backward loop, or before the loss even: goes where s0
//         goes, and s0 with it
//
// A stack that turns of the forward pass fill and turns of the backward pass read is kept for these. Of two gradients
// taken one after the other, the first one's stacks end before the step at which the program turns to its last backward
// pass, and are kept nonetheless.
//
// Of unrolled layers that have a loop each, XLA:GPU begins the stacks of all loops at once, in one fusion: all are
// there from the first loop on, and of layers that run again likewise.
#pragma once

#include "analysis/advice/advisor.h"

enum stack_use {          // bits
    STACK_FORWARD = 1,    // a loop of the forward pass takes it
    STACK_BACKWARD = 2,   // one of the backward pass does
    STACK_COPY = 4,       // a copy of another, in another order
    STACK_FILLED = 8,     // turns of the forward pass fill it, not only read it
    STACK_TOGETHER = 16,  // one fusion begins it and those of other loops
    STACK_KEPT = 32       // filled as STACK_FILLED, and taken from there by turns of the backward pass, turned or not
};

// Bits for each leaf of the graph, on the advisor's arena; NULL at its limit.
uint8_t *loop_stacks_find(const struct advisor *advisor);
