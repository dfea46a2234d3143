// A map from 64-bit ids (instruction ids, buffer ids: sparse, in any order, hostile) to indexes of a column.
//
// Open addressing on an arena, sized once for a known count, at most half full. Keys are hashed with a seed that
// differs from run to run (where the table lies), so that ids cannot be chosen to meet in one slot. Nothing that is
// computed depends on the order of slots. The first insertion of a key wins.
#pragma once

#include "analysis/base/arena.h"

#define ID_MAP_NONE UINT32_MAX

struct id_map_slot {  // key and value side by side: one cache miss a look-up
    int64_t key;
    uint32_t value;  // ID_MAP_NONE marks a free slot
};

struct id_map {
    struct id_map_slot *slots;
    uint64_t seed;
    uint64_t mask;
};

// Room for `count` keys. False when the arena is at its limit.
bool id_map_init(struct id_map *map, struct arena *arena, size_t count);

// False when the key was there already (its value stays). At most `count` distinct keys may be put.
bool id_map_put(struct id_map *map, int64_t key, uint32_t value);

// The value, or ID_MAP_NONE.
uint32_t id_map_get(const struct id_map *map, int64_t key);

// A key for a name, so that the map serves names too. Two names may share a key: compare the name that is found.
int64_t id_map_key(struct bytes name);
