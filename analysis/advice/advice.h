// What a user can change so that a program needs less HBM, and what each change would bring on this program.
//
//     advice   items, one for each change: total and peak as they would be, range, evidence, what to write
//              plan, the set of them that fits (advise_plan.c)
//
// A prediction is of the total allocation bytes of the changed and recompiled program: memory space 0, all allocations
// that are not thread-local, as `hbmview report` sums them. The compiler schedules the changed program anew, so each
// comes with a range [low, high] that its author believes in, never wider than ADVICE_RANGE_MAX of the total.
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
    ADVICE_ID_COUNT,
};

enum { ADVICE_EVIDENCE_MAX = 8, ADVICE_WAYS_DEFAULT = 4 };

struct advice_request {
    int64_t capacity_bytes;  // 0: not told
    int64_t batch;           // 0: to be found
    int64_t ways;            // chips to shard over
};

struct advice_dimension {  // what align_dimensions is about
    const char *shape;     // of the largest buffer with this padding
    const char *op_name;
    int dimension;
    int64_t from, to;
    int64_t padded;  // what `from` takes in memory
};

struct advice_item {
    enum advice_id id;
    bool applies;
    bool changes_numerics;
    int64_t ways;  // of the sharding ones, else 0
    int64_t predicted_total_bytes, predicted_peak_bytes;
    int64_t predicted_indefinite_bytes;  // of the total, what lives for the whole program
    int64_t low_bytes, high_bytes;       // where the total will be
    int64_t saves_bytes;                 // negative when the change costs
    bool has_dimension;
    struct advice_dimension dimension;
    const char *evidence[ADVICE_EVIDENCE_MAX];
    size_t evidence_count;
    const char *how;
};

enum advice_fit {
    ADVICE_FIT_UNKNOWN,  // no capacity was told
    ADVICE_FITS,         // the whole range does
    ADVICE_MAY_FIT,      // the capacity is inside the range
    ADVICE_TOO_BIG,
};

struct advice_plan {  // a set of changes that fits the capacity
    bool is_needed;   // the program does not fit as it is
    bool fits;        // the predicted total does
    enum advice_id ids[ADVICE_ID_COUNT];
    size_t count;
    int64_t ways;  // chips that it shards over; 0: it needs no more than there are
    int64_t predicted_total_bytes, low_bytes, high_bytes;
};

struct advice {
    struct bytes module_name;
    int64_t capacity_bytes;  // 0: not told
    int64_t total_bytes, peak_bytes;
    int64_t indefinite_bytes;  // of the total, what lives for the whole program
    int64_t batch;             // 0: not found
    int64_t ways;
    bool is_training;
    struct advice_item items[ADVICE_ID_COUNT];  // by id
    struct advice_plan plan;                    // never larger than a single change that fits
    struct advice_plan without_sharding;  // where the plan shards: the gentlest that does not; else without changes
};

// Whether a total between `low` and `high` fits; no capacity is 0.
static inline enum advice_fit advice_fit_of(int64_t low_bytes, int64_t high_bytes, int64_t capacity_bytes) {
    if (capacity_bytes <= 0) return ADVICE_FIT_UNKNOWN;
    if (high_bytes <= capacity_bytes) return ADVICE_FITS;
    return low_bytes <= capacity_bytes ? ADVICE_MAY_FIT : ADVICE_TOO_BIG;
}

// The plans for another capacity; 0: not told.
void advice_plan_for(struct advice *advice, int64_t capacity_bytes);
