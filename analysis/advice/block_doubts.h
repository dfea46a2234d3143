// Whether it can be told what a program's repeated blocks are: the part that a user would checkpoint.
//
//     layers, one after the other                 they are
//     a loop over time in each of several layers  a layer with its whole loop; on a GPU, what does it free?
//     layers at each of a few turns of a loop     one turn, or one layer of it?
//     rounds on a graph                           what do they hand on: nodes, or edges too?
//     parts that run again already                their layers, which wait in the backward pass?
//     convolutions of a few pictures              in which form are they when they run again?
//     pictures of several sizes in turns          which blocks keep them?
#pragma once

#include "analysis/advice/block_stages.h"

// Makes the advisor doubt all that its change is about, where it cannot.
void block_doubts_find(struct advisor *advisor, const struct residuals *residuals, const struct block_stages *stages);
