// Which free ends which allocation: by address, in time order.
//
//     A 0x10 | A 0x20 | F 0x10 | A 0x10 | F 0x20      partner  2 4 0 - 1
//
// An allocation at an address whose last allocation was never seen freed takes its place: the free was missed (XProf
// keeps the first of the two).
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Fills partner[0..count) with rows, UINT32_MAX for none; *reused counts the places taken. False when there is no
// memory.
bool free_matching_find(const uint64_t *address, const uint8_t *flags, uint32_t count, uint32_t *partner,
                        uint32_t *reused);
