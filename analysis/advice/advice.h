// What a user can change so that a program needs less HBM, and what each change would bring on this program.
//
//     advice   items, one for each change: total and peak as they would be, range, evidence, what to write
//              plan, the cheapest set of them that fits, step by step, and others beside it (advise_plan.c)
//              chains, changes that often go together, whatever fits
//
// A prediction is of the total allocation bytes of the changed and recompiled program: memory space 0, all allocations
// that are not thread-local, as `hbmview report` sums them. The compiler schedules the changed program anew, so each
// comes with a range [low, high] that its author believes in: at most ADVICE_RANGE_MAX of the total wide, and wider by
// what is not understood, by what a squeezed program (`.remat`) may fill again, and down to a second total
// (followed_total_bytes). Whatever the program,
// total - touched <= predicted <= total + added, and stays <= low (advice_bounds.h).
// What no HloProto tells is not counted: the program's own code, and what the runtime keeps for itself.
// Facts and plain words; markup and units of the page are the server's. All on the caller's arena, and nothing of it is
// a view on the module: advice outlives what it was made from.
#pragma once

#include "proto/bytes.h"

enum advice_id {
    ADVICE_DONATE_INPUTS,
    ADVICE_HALVE_BATCH,
    ADVICE_BF16_PARAMETERS,
    ADVICE_BF16_TEMPORARIES,
    ADVICE_REMATERIALIZE,
    ADVICE_SHARD_PARAMETERS,
    ADVICE_SHARD_ALL,
    ADVICE_ALIGN_DIMENSIONS,
    ADVICE_HOST_OFFLOAD_OPTIMIZER,
    ADVICE_HOST_OFFLOAD_ACTIVATIONS,
    ADVICE_REMOVE_DEBUG_PRINT,
    ADVICE_HALVE_SEQUENCE,
    ADVICE_MICRO_BATCH,
    ADVICE_REMATERIALIZE_DOTS,
    ADVICE_INT8_WEIGHTS,
    ADVICE_ID_COUNT,  // those that are told one by one
    // The batch in more parts than micro_batch is told with, for plans only: a change of the same name.
    ADVICE_MICRO_BATCH_TWICE = ADVICE_ID_COUNT,
    ADVICE_MICRO_BATCH_FOUR_TIMES,
    ADVICE_CHANGE_COUNT,
};

enum { ADVICE_EVIDENCE_MAX = 8, ADVICE_WAYS_DEFAULT = 4, ADVICE_ALTERNATIVES_MAX = 2, ADVICE_CHAINS_MAX = 4 };

struct advice_request {
    int64_t capacity_bytes;  // 0: not told
    int64_t batch;           // 0: to be found
    int64_t sequence;        // 0: to be found
    int64_t ways;            // chips to shard over
};

struct advice_dimension {  // what align_dimensions is about
    const char *shape;     // of the largest buffer with this padding
    const char *op_name;
    int dimension;
    int64_t from, to;
    int64_t padded;  // what `from` takes in memory
};

// `understood`: of the bytes that the change touches, or should, the part whose dimension, role or block is known by
// evidence (understanding.h).
//
//     change              those bytes                               unknown of them
//     halve_batch,        inputs of data; temporaries at the peak   what the batch does not reach, caches too
//     micro_batch         that are not as large as weights
//     halve_sequence      temporaries at the peak that follow     what of them it does not reach
//                         batch or sequence, or are unknown
//     bf16_parameters     all float32 that may narrow               what narrows only if the step computes in it
//     bf16_temporaries    float32 temporaries at the peak that are  what the batch does not reach; sums, exponentials
//                         not as large as weights                   and logarithms, which a program may want wide
//     rematerialize,      what the forward pass leaves to the       what comes repeatedly outside of blocks, is inside
//     rematerialize_dots, backward pass                             of loops, or does not fit the number of blocks
//     host_offload_
//     activations
//     shard_parameters,   weights, and temporaries at the peak      temporaries that neither weights nor batch reach,
//     shard_all                                                     inputs returned but not trained
//
// Of the others all is known.
struct advice_item {
    enum advice_id id;
    bool applies;
    bool changes_numerics;
    int64_t ways;   // of the sharding ones, else 0
    int64_t parts;  // of the batch, of micro_batch, else 0
    int64_t predicted_total_bytes, predicted_peak_bytes;
    int64_t predicted_indefinite_bytes;  // of the total, what lives for the whole program
    int64_t followed_total_bytes;        // of bf16_parameters: where the step computes in what it is given; 0: no other
    int64_t followed_high_bytes;         // then, the most of that; 0: as high_bytes
    int64_t kept_low_bytes;              // then, the least where it does not; 0: as low_bytes
    int64_t low_bytes, high_bytes;       // where the total will be
    int64_t saves_bytes;                 // negative when the change costs
    double understood;                   // 0 to 1; of which bytes stands above
    bool cannot_tell;                    // too little is: totals mean nothing, nothing applies, evidence[0] says why
    int64_t touched_bytes;               // of today's total, the most that the change can take away
    int64_t stays_bytes;                 // inputs, outputs and constants that it leaves as they are
    int64_t added_bytes;                 // the most that it is known to add
    bool has_dimension;
    struct advice_dimension dimension;
    const char *evidence[ADVICE_EVIDENCE_MAX];
    size_t evidence_count;
    const char *how;
    const char *name, *code;  // for this program; NULL: the change's own (change.h)
};

enum advice_fit {
    ADVICE_FIT_UNKNOWN,  // no capacity was told
    ADVICE_FITS,         // the whole range does
    ADVICE_MAY_FIT,      // the capacity is inside the range
    ADVICE_TOO_BIG,
};

struct advice_cost {  // of changes for whoever makes them: advice_cost.h
    int numerics, speed, work, chips;
};

struct advice_step {  // one change of a set, after those before it: the total then, replayed with all of these
    enum advice_id id;
    int64_t predicted_total_bytes, low_bytes, high_bytes;
    int64_t saves_bytes;  // of the total before it; negative when it costs
    int64_t parts;        // these as the item's
    const char *name, *code;
};

enum advice_kind {  // what an alternative has over the plan
    ADVICE_PLAN,    // it is the plan
    ADVICE_WITHOUT_SHARDING,
    ADVICE_SAME_NUMERICS,
    ADVICE_SAME_SPEED,
    ADVICE_FEWER_CHANGES,
    ADVICE_CHEAPER,    // but only its total fits, not its range
    ADVICE_MORE_ROOM,  // other changes, that leave less
};

struct advice_plan {  // a set of changes that fits the capacity
    bool is_needed;   // the program does not fit as it is
    bool fits;        // the predicted total does
    enum advice_kind kind;
    struct advice_step steps[ADVICE_CHANGE_COUNT];  // the cheapest change first
    size_t count;
    int64_t ways;  // chips that it shards over; 0: it does not
    struct advice_cost cost;
    int64_t predicted_total_bytes, low_bytes, high_bytes;  // after the last step
    int64_t kept_low_bytes;                                // as of an item; 0: as low_bytes
};

struct advice_together {  // two changes or more made together: advice_sets.h
    unsigned set;         // bit i: the intervention of id i
    int64_t predicted_total_bytes;
};

struct advice {
    struct bytes module_name;
    int64_t capacity_bytes;  // 0: not told
    int64_t total_bytes, peak_bytes;
    int64_t indefinite_bytes;  // of the total, what lives for the whole program
    int64_t batch;             // 0: not found
    int64_t told_batch;        // as examples, for a reader; 0 too where it is in doubt
    int64_t sequence;          // 0: not found, or in doubt
    int64_t ways;
    int64_t partitions;  // chips that the program is compiled for
    bool is_training;
    bool is_for_tpu;                                // compiled by libtpu: target.h
    bool is_for_gpu;                                // its instructions have XLA:GPU's configuration
    struct advice_item items[ADVICE_CHANGE_COUNT];  // by id
    struct advice_together *together;
    size_t together_count;
    struct advice_plan plan;              // the cheapest set that fits
    struct advice_plan without_sharding;  // where the plan shards: the cheapest that does not; else without changes
    struct advice_plan nearest;  // where none fits: the set that comes nearest (advise_nearest.h); else without
    int64_t least_ways;          // it does not fit: chips to share all of one chip's program, at least; 0: not known
    int64_t least_ways_bytes;    // the total of each then
    struct advice_plan alternatives[ADVICE_ALTERNATIVES_MAX];
    size_t alternative_count;
    struct advice_plan chains[ADVICE_CHAINS_MAX];  // for no capacity: is_needed and fits are not meant
    size_t chain_count;
};

// Whether a total between `low` and `high` fits; no capacity is 0.
static inline enum advice_fit advice_fit_of(int64_t low_bytes, int64_t high_bytes, int64_t capacity_bytes) {
    if (capacity_bytes <= 0) return ADVICE_FIT_UNKNOWN;
    if (high_bytes <= capacity_bytes) return ADVICE_FITS;
    return low_bytes <= capacity_bytes ? ADVICE_MAY_FIT : ADVICE_TOO_BIG;
}

// The plans for another capacity, and the chains, from the items and the sets that were asked. 0: no capacity is told.
void advice_plan_for(struct advice *advice, int64_t capacity_bytes);
