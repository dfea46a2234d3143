// A map from an address to the allocation that XProf thinks is there now.
//
//     0x7f01..  ->  17              allocation 17 is there
//     0x7f02..  ->  ADDRESS_FREE    something was there, and was freed
//
// Grows as addresses come, on an arena, at most half full. Hashed with a seed that differs from run to run, because
// addresses come from files; nothing that is computed depends on the order of slots.
#pragma once

#include "analysis/base/arena.h"

#define ADDRESS_FREE UINT32_MAX

struct xprof_address {
    uint64_t address;
    uint32_t allocation;
    bool is_used;  // false: a slot without an address
};

struct xprof_addresses {
    struct arena *arena;
    struct xprof_address *slots;
    size_t slot_count;  // a power of two
    size_t count;
    uint64_t seed;
};

// False when the arena is at its limit.
bool xprof_addresses_init(struct xprof_addresses *map, struct arena *arena);

// Where the allocation of an address stands, ADDRESS_FREE at first; valid until the next call. NULL at the limit.
uint32_t *xprof_addresses_at(struct xprof_addresses *map, uint64_t address);
