// Which dimensions a loop goes through one at a time.
//
//     weights  f32[12,768,2304]  -- dynamic-slice -->          f32[1,768,2304]     12 layers of a stack
//     hidden   f32[128,256,1024] <-- dynamic-update-slice --   f32[1,256,1024]     128 steps of time
//
// Found at the slices in the bodies of loops and followed from there through the program (dimension_flow.h), never by
// size: a width of 1024 beside 1024 layers is no stack. Rows that a loop of the compiler's own gathers from a table, or
// scatters into one, are no steps.
#pragma once

#include "analysis/advice/dimension_marks.h"

// `steps` gets a mark for each such dimension. False at the arena's limit.
bool loop_steps_find(const struct program_graph *graph, struct arena *arena, struct dimension_flow *steps);

// Of a loop, what one turn of it gets from the turn before and what follows `marked`, in bytes; `*length` gets how many
// turns there are, as the longest stack among what it carries tells, or 0.
int64_t loop_steps_carried(const struct dimension_flow *steps, const struct dimension_flow *marked, uint32_t loop,
                           int64_t *length);

// Of a loop's arrays, is that one a stack that its turns fill? Others it only takes ones of.
bool loop_steps_is_filled(const struct dimension_flow *steps, uint32_t loop, uint32_t element);

// Of each node, is it a loop whose turns stack up what follows `batch`? On `arena`; NULL at its limit.
uint8_t *loop_steps_stacking(const struct dimension_flow *steps, const struct dimension_flow *batch,
                             struct arena *arena);

// Is an array a stack: does a loop take one of its first dimension at a time?
static inline bool loop_steps_is_stack(const struct dimension_flow *steps, uint32_t leaf) {
    return leaf != HLO_NONE && (steps->marks[leaf] & 1);
}
