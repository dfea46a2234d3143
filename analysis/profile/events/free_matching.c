#include "analysis/profile/events/free_matching.h"

#include <string.h>

#include "analysis/base/index_table.h"
#include "analysis/profile/events/memory_columns.h"

enum { FIRST_SLOTS = 1024 };

struct address_slot {
    uint64_t address;
    uint32_t row;  // of the allocation that is alive there
    uint32_t is_used;
};

struct address_map {
    struct growing_block slots;
    uint64_t slot_count, count;
    uint64_t seed;
};

static struct address_slot *find(const struct address_map *map, uint64_t address) {
    struct address_slot *slots = map->slots.data;
    uint64_t mask = map->slot_count - 1, at = index_hash_mix(address ^ map->seed) & mask;
    while (slots[at].is_used && slots[at].address != address) at = (at + 1) & mask;
    return &slots[at];
}

static bool grow(struct address_map *map) {
    struct address_map larger = *map;
    larger.slots = (struct growing_block){0};
    larger.slot_count = map->slot_count ? 2 * map->slot_count : FIRST_SLOTS;
    if (!large_block_reserve(&larger.slots, larger.slot_count * sizeof(struct address_slot))) return false;
    memset(larger.slots.data, 0, larger.slot_count * sizeof(struct address_slot));
    const struct address_slot *old = map->slots.data;
    for (uint64_t i = 0; i < map->slot_count; i++) {
        if (old[i].is_used) *find(&larger, old[i].address) = old[i];
    }
    large_block_release(&map->slots);
    *map = larger;
    return true;
}

// The slot of an address, made when it is new. NULL when there is no memory.
static struct address_slot *slot_of(struct address_map *map, uint64_t address) {
    if (map->count * 2 >= map->slot_count && !grow(map)) return NULL;
    struct address_slot *slot = find(map, address);
    if (slot->is_used) return slot;
    *slot = (struct address_slot){address, MEMORY_EVENT_NONE, 1};
    map->count++;
    return slot;
}

bool free_matching_find(const uint64_t *address, const uint8_t *flags, uint32_t count, uint32_t *partner,
                        uint32_t *reused) {
    struct address_map map = {.seed = index_hash_mix((uint64_t)(uintptr_t)&map)};
    struct address_slot *slot = NULL;
    uint32_t row = 0;
    *reused = 0;
    for (; row < count && (slot = slot_of(&map, address[row])) != NULL; row++) {
        bool is_free = flags[row] & MEMORY_EVENT_IS_FREE;
        partner[row] = MEMORY_EVENT_NONE;
        if (is_free && slot->row != MEMORY_EVENT_NONE) {
            partner[row] = slot->row;
            partner[slot->row] = row;
        }
        *reused += !is_free && slot->row != MEMORY_EVENT_NONE;
        slot->row = is_free ? MEMORY_EVENT_NONE : row;
    }
    large_block_release(&map.slots);
    return row == count;
}
