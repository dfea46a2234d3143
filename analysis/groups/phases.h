// When a training step computes forward and when backward, and what it keeps from the one for the other.
//
//     op_name                                  phase
//     jit(step)/jvp()/dot_general              forward
//     jit(step)/transpose(jvp())/dot_general   backward
//     jit(step)/sub                            neither: the optimizer
//
// A buffer that is written before a turn and freed after it by a backward step is a residual. Several gradients one
// after the other have a turn each. Steps are events of the heap simulator trace.
#pragma once

#include "analysis/program/op_name.h"
#include "analysis/program/program_graph.h"
#include "analysis/memory/heap_replay.h"

struct phases {
    uint8_t *of_node;  // enum phase
    uint32_t *source;  // of each node: the node whose value it copies, through copies, bitcasts, asynchronous pairs
    uint8_t *is_read_forward;  // of each node: a forward step reads its value, of the entry or of a loop it is given to
    uint32_t turn_step;        // the first backward step that stays backward; step_count when there is none
    uint32_t *next_turn;       // of each step of a forward pass: the one that turns it backward; UINT32_MAX for others;
                               // step_count for all when nothing is backward
};

// False at the arena's limit.
bool phases_find(const struct program_graph *graph, const struct heap_replay *replay, struct arena *arena,
                 struct phases *phases);
