// The heap simulator trace of the compiler, replayed: what is live at every step of the program.
//
//     event         ALLOC a   ALLOC b   SHARE c~b   FREE b    FREE c   (end)
//     position          0         1         2         3         4        5
//     heap_bytes        0         a        a+b       a+b       a+b       a      before the event; one more at the end
//     span a        [0 ......................................................5] never freed: to the end
//     span b                 [1 ..............................4]                freed when its last sharer goes
//
// Follows ProcessHeapSimulatorTrace in xprof/convert/hlo_proto_to_memory_visualization_utils.cc (openxla/xprof
// a27d00aa): a buffer that shares another's bytes adds nothing while the other is live; the peak is the earliest
// strict maximum; events that name an unknown buffer count as a step and change nothing.
#pragma once

#include "analysis/hlo/hlo_module.h"

struct heap_span {
    uint32_t buffer;        // index into the module's buffers
    uint32_t start_step;    // event that allocated it
    uint32_t end_step;      // event that freed its bytes; step_count when none did
    uint32_t own_end_step;  // event that freed the buffer itself: earlier when a sharer lives on
    bool is_shared;         // it took the free bytes of an earlier buffer (SHARE_WITH)
};

struct heap_stay {        // one time that bytes were taken: live bytes after an event are the sum of those that last
    uint32_t span;        // of the buffer that stands for them
    uint32_t root;        // the buffer whose size counts
    uint32_t start_step;  // ALLOC, or a SHARE_WITH after they were free
    uint32_t end_step;    // the last FREE; step_count when there was none
};

struct heap_events {  // a trace, or several traces of one memory space merged
    const struct hlo_event *events;
    uint32_t count;
};

struct heap_replay {
    uint32_t step_count;  // events; the two curves have step_count + 1 entries
    int64_t *heap_bytes;
    int64_t *unpadded_bytes;
    struct bytes *instruction_names;
    uint32_t peak_position;
    int64_t peak_bytes;
    int64_t peak_unpadded_bytes;
    uint32_t *live_at_peak;  // buffer indexes in program order
    uint32_t live_at_peak_count;
    struct heap_span *spans;  // in order of the first event of each buffer
    uint32_t span_count;
    struct heap_stay *stays;  // in order of allocation
    uint32_t stay_count;
};

// `unpadded_of_buffer[b]` is the unpadded size of buffer b, for each buffer that an event names, as its own or as the
// canonical one; -1 means unknown and counts as no padding. NULL leaves the unpadded curve at zero.
// Errors: a buffer freed more often than allocated, a negative heap, sums past int64, a SHARE_WITH chain that is a
// cycle or longer than HEAP_SHARE_CHAIN_MAX.
MUST_USE bool heap_replay_run(const struct hlo_module *module, struct heap_events events,
                              const int64_t *unpadded_of_buffer, struct arena *arena, struct heap_replay *replay,
                              struct error *error);

enum { HEAP_SHARE_CHAIN_MAX = 1024 };
