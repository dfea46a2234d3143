// When each operation runs, and until when each array is needed: one clock for the whole program.
//
//     entry   %a  %while                    %b
//     body         %p  %x  %root
//     time    0    1   2   3      4         5       a loop comes after its body, which is counted once
//
// An array is needed until the last operation that reads it, also under another name: through tuples, bitcasts, loops
// that carry it. What the program returns is needed for ever. Without a schedule in the proto all times are
// SCHEDULE_NEVER.
#pragma once

#include "analysis/program/program_graph.h"

enum { SCHEDULE_NEVER = UINT32_MAX };

struct schedule {
    uint32_t *time_of_node;      // SCHEDULE_NEVER for what no sequence names
    uint32_t *last_use_of_leaf;  // SCHEDULE_NEVER: for ever
    uint32_t *order;             // nodes by time
    uint32_t count;
};

// False at the arena's limit.
bool schedule_read(const struct program_graph *graph, struct arena *arena, struct schedule *schedule);
