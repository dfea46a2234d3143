// The program around one operation, as text: itself, what it reads, what reads it, what it calls, its computation.
//
//     // operands                      %copy.2 = ...
//     // fusion.7                      %fusion.7 = bf16[8,1024]{1,0} fusion(%p.1, %copy.2), calls=%body, ...
//     // users                         %add.9 = ...
//     // what it calls                 %body { ... }
//     // around it, in %main           3 of 1026 operations, in the order of the file
//
// Bounded: of each part at most so many lines; how many there are more, stands in the text and in the counts.
#pragma once

#include "analysis/program/hlo_line.h"

enum { HLO_AROUND_NEIGHBOURS = 100, HLO_AROUND_CALLED_LINES = 400, HLO_AROUND_LINES = 2000 };

struct hlo_around {
    struct bytes instruction, computation;  // names
    struct bytes *operands, *users;         // names
    uint32_t operand_count, user_count;     // of those in the text
    uint32_t operands_left_out, users_left_out;
    uint32_t computation_lines, computation_left_out;  // of its operations
    const char *text;
};

// `node` is an instruction of the module. All on the arena. False: *error is filled.
MUST_USE bool hlo_around_make(const struct program_graph *graph, uint32_t node, struct arena *arena,
                              struct hlo_around *around, struct error *error);
