// How large the temporary allocations of HBM would be if their buffers had other sizes.
//
//     today      |  packed, as heap_packing.h does  |  rest  |    rest: untraced buffers, what the packing misses
//     then       |  packed again  |  rest, by the untraced ones |
//
// The order is the compiler's own, found by packing the program as it is:
//   - XLA:GPU and XLA:CPU try the largest first and the longest first, and take the smaller heap
//     (ChooseBestHeapAlgorithm in xla/service/heap_simulator/heap_simulator.cc, used by BufferAssigner in
//     xla/service/buffer_assignment.cc; openxla/xla 0e06ac82).
//   - libtpu (0.0.52; not in the open) packs in program order, at multiples of 16 KiB; a program that does not fit its
//     chip, or has just been made to, as the others do (v5e_gpt_12layer_oom of the corpus).
// libtpu also keeps buffers in these allocations that no trace tells of: a 512-byte flag for each asynchronous copy, in
// 16 KiB of its own for the whole program (4,036 of them are 63 MiB of v5e_gpt_fsdp).
//
// After a change the packing wastes no more bytes than today: the compiler schedules the changed program anew, and what
// a packing of today's schedule wastes beyond that, recompiled programs do not (gpt_too_big of docs/advice.md with its
// parameters on four chips: 14 % too much without this, 7 % with it).
//
// With these the unchanged programs come out within 1 % of the compiler's own size: `make bench-packing`.
#pragma once

#include "analysis/advice/heap_packing.h"

enum { TEMPORARIES_ALIGNMENT_MAX = 1 << 14 };

struct untraced_buffer {
    uint32_t allocation, buffer;
    int64_t offset;
};

struct temporaries {
    int64_t total_bytes;      // of the allocations, as the compiler says
    int64_t packed_bytes;     // of what the trace tells, packed here
    int64_t wasted_bytes;     // of packed_bytes, what is not live at the peak
    int64_t untraced_bytes;   // of what it does not, by place
    int64_t alignment_bytes;  // of the offsets, at most TEMPORARIES_ALIGNMENT_MAX
    bool is_in_program_order;
    int64_t packing_visits;  // how much work it is; 0: so little is wasted that no packing is asked after a change
    struct untraced_buffer *untraced;  // by allocation and offset
    uint32_t untraced_count;
};

// Is it one of these allocations?
bool temporaries_has(const struct hlo_allocation *allocation);

// `replay` is the module's, of `events`, as it is. Peaks of more than 2^61 bytes are errors, here and below.
MUST_USE bool temporaries_init(struct temporaries *temporaries, const struct hlo_module *module,
                               struct heap_events events, const struct heap_replay *replay, struct arena *arena,
                               struct error *error);

// `changed` is the module with other sizes, and perhaps more buffers; `replay` its replay. Never less than the peak of
// the replay, never negative. Works on `scratch`.
MUST_USE bool temporaries_predict(const struct temporaries *temporaries, const struct hlo_module *changed,
                                  const struct heap_replay *replay, struct arena *scratch, int64_t *total_bytes,
                                  struct error *error);
