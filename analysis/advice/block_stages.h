// The repeated blocks of a forward pass, in stages of blocks that are alike.
//
//     twelve layers          one stage:   12 blocks, each keeps 24 MiB of input, 200 MiB inside
//     a residual network     four stages: 3 blocks of 56 x 56 pixels, 4 of 28 x 28, 6 of 14 x 14, 3 of 7 x 7
//     a loop of 12 turns     one stage:   what the loop carries is each turn's input
//     8 layers over time     one stage:   8 blocks, of which each has a loop and keeps the input of all its turns
//
// How many blocks: as often as a weight of each shape comes (layer_count.h). Where weights do not say (a head has one
// like the blocks' own, every second block has others, stages have their own), residuals are put into stages by when
// they are made, and a stage has as many blocks as operations keep the arrays that hold most of it. Loops over layers
// have as many as all of their turns; far more scopes with a number than that are the blocks (scoped_blocks.h).
#pragma once

#include "analysis/advice/residuals.h"

enum { BLOCK_STAGES_MAX = 64 };
enum { LAYERS_OVER_TIME = 4 };  // at least, each a block with its loop; of two or three a turn is, as of one

struct block_stage {
    uint32_t first_start, last_start;  // of its residuals
    double blocks;
    int64_t stream_bytes;  // the input of one block, or of one turn of its own loop over time
    int64_t turns;         // of that; 0: it has none
    uint32_t layers;       // of one turn of a loop over layers, each a block of its own perhaps; 0: not known
    double dropped_bytes;  // residuals of all
    double kept_bytes;     // instead of these, of all
    double saved_bytes;    // of kept_bytes, results inside of blocks, which need not be computed again
    bool stays;            // no block: all of it is kept
};

struct block_stages {
    bool are_unequal;                             // blocks of one stage: unequal_blocks.h
    bool are_scoped;                              // a block each: scoped_stages.h
    struct block_stage stages[BLOCK_STAGES_MAX];  // in program order
    uint32_t count;
    double blocks;                                // of all
    uint8_t stage_of_group[RESIDUAL_GROUPS_MAX];  // of the residuals'; BLOCK_STAGES_MAX where it is no block's
};

// Loops of the forward pass that are as long as that of the residuals and hand something on from turn to turn, where no
// loop takes layers: of one net over time, or of each of its layers. 0: none.
uint32_t block_stages_loops_over_time(const struct advisor *advisor, const struct residuals *residuals);

// What all stages keep, in bytes.
double block_stages_kept_bytes(const struct block_stages *stages);

// Of that, results inside of blocks.
double block_stages_saved_bytes(const struct block_stages *stages);

// What a block, or a turn, gets from the one before, where most is dropped; 0 without blocks.
int64_t block_stages_stream_bytes(const struct block_stages *stages);

// What such a block keeps, with all turns of its loop.
int64_t block_stages_input_bytes(const struct block_stages *stages);

// The same blocks, were each layer of a turn one, where a turn has two or three: windows that are shifted in every
// second layer. False: no turn has so many.
bool block_stages_by_layer(const struct block_stages *stages, struct block_stages *by_layer);

// Its stages have no saved_bytes, and kept_bytes of their inputs.
void block_stages_find(const struct advisor *advisor, const struct residuals *residuals, struct block_stages *stages);
