// How much of what a change is about is known by evidence, and what a prediction may say where it is not.
//
//     temporaries at the peak     bf16[8,512,768]   f32[768,3072]    f32[127,64]       small ones
//                                 marked: batch     as a weight      neither: unknown  left out
//
//     understood = 1 - unknown / population      each intervention says what its population is, what of it unknown
//     >= 0.8     the range as it is
//     <  0.8     low goes down by what may go as well, high up by what may stay after all
//     <  0.5     no figure: cannot tell
//
// A range wider than the prediction itself, and than a quarter of the program, tells nothing either: then `understood`
// is half of the part of the range that the prediction makes, which is less than 0.5.
//
// What is unknown counts only from a twentieth of the program's total on: less moves no total by much.
#pragma once

#include "analysis/advice/advice.h"
#include "analysis/advice/program_roles.h"
#include "analysis/advice/what_if.h"

struct advice_doubt {
    double population_bytes;  // what the change touches, or should
    double may_go_bytes;      // of it, what is predicted to stay for want of evidence
    double may_stay_bytes;    // of it, what is predicted to go, with poor evidence
    double part;              // that the change takes of a byte, at most
    const char *help;         // what would tell
};

struct peak_bytes {            // of the temporaries that are alive at the peak
    double batch, state;       // follow the batch; are as large as weights are: gradients, updates, copies
    double other;              // neither
    double inside, other_f32;  // of the first, what a loop's or a call's body computes; of the others, float32
};

// Where a buffer is as an input of weights is: the same dimensions in any order, or one layer of a stack.
bool understanding_is_like_state(const struct program_graph *graph, const struct program_roles *roles,
                                 const struct dimension_flow *batch, uint32_t leaf);

// Is an input that no evidence calls a weight or data: where nothing is trained, one that is returned changed, as a
// cache is.
bool understanding_is_unknown_input(const struct program_roles *roles, const struct dimension_flow *batch,
                                    uint32_t input);

struct peak_bytes understanding_of_peak(const struct what_if *what_if, const struct program_graph *graph,
                                        const struct program_roles *roles, const struct dimension_flow *batch);

// All of the population at most: the same bytes may be in doubt for several reasons.
double understanding_unknown_bytes(const struct advice_doubt *doubt);

enum understood {
    UNDERSTOOD_WELL,
    UNDERSTOOD_TOO_LITTLE,  // of the bytes that it is about
    UNDERSTOOD_TOO_WIDELY,  // the range
};

// Sets `understood` and `cannot_tell`, and widens the range.
enum understood understanding_judge(const struct what_if *now, const struct advice_doubt *doubt,
                                    struct advice_item *item);
