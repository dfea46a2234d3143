// Which free ends which allocation: by address, in time order.
//
//     A 0x10 | A 0x20 | F 0x10 | A 0x10 | F 0x20      partner  2 4 0 - 1
//
// An allocation at an address whose last allocation was never seen freed takes its place: the free was missed (XProf
// keeps the first of the two).
#pragma once

#include "analysis/base/id_map.h"

enum { ADDRESSES_EXPECTED = 512 };

#define NOTHING_ALIVE (ID_MAP_NONE - 1)  // rows are fewer

// Where `alive_at` (address -> row) holds the allocation that is at an address now: NOTHING_ALIVE at first, and to be
// set again when that is freed. NULL at the arena's limit.
static inline uint32_t *allocation_at(struct id_map *alive_at, uint64_t address) {
    uint32_t *row = id_map_place(alive_at, (int64_t)address);
    if (row && *row == ID_MAP_NONE) *row = NOTHING_ALIVE;
    return row;
}

// Fills partner[0..count) with rows, UINT32_MAX for none; *reused counts the places taken. False when there is no
// memory.
bool free_matching_find(const uint64_t *address, const uint8_t *flags, uint32_t count, uint32_t *partner,
                        uint32_t *reused);
