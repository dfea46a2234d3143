// Finds instructions by id, as logical buffers name them. Private to this room.
//
//     buffers       b0 -> i2      b1 -> i3      b2 -> i9 ...        in the order of their instructions, nearly always
//     instructions  i0 i1 i2 i3 ...... i9
//                            ^ last  ~~~> looked at first
//
// So the next instruction is looked for from the last one on, and a map of all is made only when that finds too little.
// Before 2022 buffers named their instruction instead: those go through a map of names.
#pragma once

#include "analysis/hlo/hlo_module.h"

struct instruction_lookup {
    const struct hlo_module *module;
    struct arena *arena;
    uint32_t last;
    uint64_t steps;                // spent on looking ahead
    struct id_map by_id, by_name;  // made at the first need
};

// *instruction becomes an index or HLO_NONE. False when the arena is at its limit.
MUST_USE bool instruction_by_id(struct instruction_lookup *lookup, int64_t id, uint32_t *instruction);
MUST_USE bool instruction_by_name(struct instruction_lookup *lookup, struct bytes name, uint32_t *instruction);
