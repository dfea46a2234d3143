// Temporaries that lie in the outputs' allocations until the outputs are written.
//
//     output allocation 8   |..custom-call.22 (96 MiB)..|  |..while.8 (192 MiB)..|..the output (192 MiB)..|
//                           guests                                               owner, to the end
//
// When a program is short of memory, XLA:TPU uses outputs so; with room to spare it does not. XLA:GPU always does
// (lodging.h). A change that removes the outputs (donation), or makes room, sends the guests to the heap: here they are
// added to it, as buffers of their own with events of their own. `module` and `events` are the program with them:
// buffers from `first_guest` on.
#pragma once

#include "analysis/program/schedule.h"
#include "analysis/memory/heap_replay.h"

struct host {             // an output's allocation
    uint32_t allocation;  // no entry parameter's
    uint32_t owner;       // buffer: the output itself
    uint32_t first_step;  // of `events`: from here on the owner needs it
};

struct residents {
    struct hlo_module module;  // a copy whose buffers go on with the guests
    struct heap_events events;
    uint32_t first_guest, guest_count;
    int64_t guest_bytes;
    struct host *hosts;
    uint32_t host_count;
    uint32_t *host_handed_to;  // of each guest: the host whose owner follows it without a gap, or HLO_NONE
};

// Extends graph->leaf_of_buffer to the guests. Guests of more than 2^61 bytes are taken for none. False at the arena's
// limit.
bool residents_find(const struct hlo_module *module, struct program_graph *graph, const struct schedule *schedule,
                    struct heap_events events, struct arena *arena, struct residents *residents);
