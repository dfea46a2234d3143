#include "analysis/profile/xprof/xprof_addresses.h"

enum { FIRST_SLOTS = 1024 };

bool xprof_addresses_init(struct xprof_addresses *map, struct arena *arena) {
    *map = (struct xprof_addresses){.arena = arena, .slot_count = FIRST_SLOTS};
    map->slots = arena_new(arena, struct xprof_address, FIRST_SLOTS);
    map->seed = (uint64_t)(uintptr_t)map->slots;
    return map->slots != NULL;
}

// A 64-bit finalizer: every input bit reaches every output bit.
static uint64_t mix(uint64_t h) {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

static struct xprof_address *find_slot(const struct xprof_addresses *map, uint64_t address) {
    size_t mask = map->slot_count - 1, at = mix(address ^ map->seed) & mask;
    while (map->slots[at].is_used && map->slots[at].address != address) at = (at + 1) & mask;
    return &map->slots[at];
}

static bool grow(struct xprof_addresses *map) {
    struct xprof_addresses old = *map;
    map->slots = arena_new(map->arena, struct xprof_address, old.slot_count * 2);
    if (!map->slots) {
        *map = old;
        return false;
    }
    map->slot_count = old.slot_count * 2;
    for (size_t i = 0; i < old.slot_count; i++) {
        if (old.slots[i].is_used) *find_slot(map, old.slots[i].address) = old.slots[i];
    }
    return true;
}

uint32_t *xprof_addresses_at(struct xprof_addresses *map, uint64_t address) {
    struct xprof_address *slot = find_slot(map, address);
    if (slot->is_used) return &slot->allocation;
    if (map->count >= map->slot_count / 2) {
        if (!grow(map)) return NULL;
        slot = find_slot(map, address);
    }
    map->count++;
    *slot = (struct xprof_address){address, ADDRESS_FREE, true};
    return &slot->allocation;
}
