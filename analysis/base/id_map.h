// The one hash table: from 64-bit keys (instruction ids, buffer ids, addresses: sparse, in any order, hostile) to
// 32-bit values, mostly indexes of a column.
//
//     key --seed, mix--> slot { key, value }      a thing that is no number is hashed to a key, and compared
//
// Open addressing on an arena, at most half full, larger when it has to be (what it leaves behind goes with the arena).
// Keys are hashed with a seed that differs from run to run (where the table lies), so that ids cannot be chosen to meet
// in one slot. Nothing that is computed depends on the order of slots.
#pragma once

#include "analysis/base/arena.h"

#define ID_MAP_NONE UINT32_MAX

struct id_map_slot {  // key and value side by side: one cache miss a look-up
    int64_t key;
    uint32_t value;  // ID_MAP_NONE marks a free slot
};

struct id_map {
    struct arena *arena;
    struct id_map_slot *slots;
    uint64_t seed;
    uint64_t mask;
    size_t count;
};

// With room for `count` keys. False when the arena is at its limit.
bool id_map_init(struct id_map *map, struct arena *arena, size_t count);

// Where the value of `key` is, until the next key comes: ID_MAP_NONE in it when the key is new, and then to be set at
// once. NULL at the arena's limit.
uint32_t *id_map_place(struct id_map *map, int64_t key);

// False when the key was there already (its value stays), and at the arena's limit, which `count` keys do not reach.
bool id_map_put(struct id_map *map, int64_t key, uint32_t value);

// The value, or ID_MAP_NONE.
uint32_t id_map_get(const struct id_map *map, int64_t key);

// Mixes until every bit of `h` has reached every other.
static inline uint64_t id_map_mix(uint64_t h) {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

// A key for two indexes: no other two have it.
static inline int64_t id_map_pair(uint32_t high, uint32_t low) {
    return (int64_t)((uint64_t)high << 32 | low);
}

// A key for a name, another in every run. Two names may share a key: compare the name that is found, and go on at the
// next key where each has to be found.
int64_t id_map_key(struct bytes name);
