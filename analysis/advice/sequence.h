// The sequence of a program: the dimension of its data that is no batch and no feature, and all that grows with it.
//
//     tokens s32[8,512]     caches bf16[16,1024,16,64]     rows f32[128,256,1024], a loop takes one of 128 at a time
//                  ^                   ^                            ^
//     scores bf16[8,12,512,512]: both dimensions grow with it, half the sequence is a quarter of them
//
//     caches bf16[20,6144,2,128] <- scatter at [20] places, or a token's slice: the room is what is written in part
//     prompt [8,8192] in a room of 9216: most of it, so both go together
//
// Found as the batch is (program_roles.h): each dimension of an input of data that does not follow the batch is marked,
// and followed; the one that reaches most bytes wins. A feature is summed over with weights, so marks that reach more
// than an eighth of these (tables of positions may be reached) are none of a sequence; nor are the sides of images. A
// slice of all but the last of a sequence follows it. Lengths of several inputs that each attend to themselves, as
// those of an encoder and a decoder, go together. What windows or patches are gathered of is followed no further: a
// dimension of numbers that reaches no weight may be such. Does not tell a length from another quantity of that sort,
// such as the words of a document: whatever is halved, its bytes are.
#pragma once

#include "analysis/advice/program_roles.h"

struct sequence {
    int64_t length;    // 0: not found
    int dimension;     // of that input
    int beside_count;  // of lengths of other inputs, which are halved with it
    int64_t beside;    // the first of these
    bool is_told;      // the user gave the length
    int64_t reached;   // inputs of weights that follow it
    bool is_stepped;   // a loop takes one of it at a time
    bool is_cut;       // none was found, but pieces are taken of data that are no features
    struct dimension_flow flow;
};

struct sequence_request {
    int64_t told;    // the user's length, 0 for none
    bool has_films;  // data of five dimensions are frames, not volumes that are convolved
};

// False at the arena's limit.
bool sequence_find(const struct program_graph *graph, const struct program_roles *roles,
                   const struct dimension_flow *batch, const struct sequence_request *request, struct arena *arena,
                   struct sequence *sequence);

// Does anything grow with the square of what is marked, as attention's scores do?
bool sequence_stands_twice(const struct dimension_flow *flow);
