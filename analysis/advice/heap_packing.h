// Where the compiler puts temporaries: a heap replay, packed into one allocation.
//
//     offset
//       ^   |  b  |   | d |        blocks   a buffer and all that share its bytes: one offset
//       |  |   a    | | c   |      stays    when its bytes are taken (heap_replay.h); others may lie there in between
//       +------------------------> step
//
// As XLA does it (GlobalDecreasingSizeBestFitHeap in xla/service/heap_simulator/heap_simulator.cc, openxla/xla
// 0e06ac82): blocks are placed one after the other, each into the smallest gap between those placed before that are
// live at one of its steps, the lowest of equal ones, else on top of them. Each offset is a multiple of the alignment.
// The order decides how much is wasted; which one a compiler takes is for temporaries.h to know.
//
// A packing looks at PACKING_VISITS_MAX neighbours and no more: blocks that come later in the order lie above the
// others, as high as they are at their own peak. Knows no allocation and no memory space.
#pragma once

#include "analysis/memory/heap_replay.h"

enum { PACKING_VISITS_MAX = 1 << 21 };

enum heap_order {
    HEAP_PROGRAM_ORDER,  // by the step that allocates (kFastMerge)
    HEAP_LARGEST_FIRST,  // by size, then by steps (kSpatial)
    HEAP_LONGEST_FIRST,  // by steps from the first stay to the last, then by size (kTemporal)
};

struct heap_packing {
    int64_t total_bytes;
    int64_t *offset_of_stay;   // as replay->stays; HEAP_UNPLACED for those above the others, and those without bytes
    uint32_t unplaced_blocks;  // that have bytes
    int64_t visits;            // how much work it was
};

#define HEAP_UNPLACED INT64_MIN

// Packs the stays of `replay`, which is a replay of `module`: its buffers tell sizes, in bytes. `alignment_bytes` is at
// least 1. Errors: the arena's limit; more than 2^62 bytes in all.
MUST_USE bool heap_packing_run(const struct hlo_module *module, const struct heap_replay *replay, enum heap_order order,
                               int64_t alignment_bytes, struct arena *arena, struct heap_packing *packing,
                               struct error *error);
