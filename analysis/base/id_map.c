#include "analysis/base/id_map.h"

// A 64-bit finalizer: every input bit reaches every output bit.
static uint64_t mix(int64_t key, uint64_t seed) {
    uint64_t h = (uint64_t)key ^ seed;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

bool id_map_init(struct id_map *map, struct arena *arena, size_t count) {
    size_t slots = 8;
    while (slots / 2 < count) {
        if (slots > SIZE_MAX / 4) return false;
        slots *= 2;
    }
    map->slots = arena_push_raw(arena, slots, sizeof *map->slots);
    map->mask = slots - 1;
    if (!map->slots) return false;
    map->seed = (uint64_t)(uintptr_t)map->slots * 0x9e3779b97f4a7c15u;
    memset(map->slots, 0xff, slots * sizeof *map->slots);
    return true;
}

static struct id_map_slot *find_slot(const struct id_map *map, int64_t key) {
    uint64_t at = mix(key, map->seed) & map->mask;
    while (map->slots[at].value != ID_MAP_NONE && map->slots[at].key != key) at = (at + 1) & map->mask;
    return &map->slots[at];
}

bool id_map_put(struct id_map *map, int64_t key, uint32_t value) {
    struct id_map_slot *slot = find_slot(map, key);
    if (slot->value != ID_MAP_NONE) return false;
    *slot = (struct id_map_slot){key, value};
    return true;
}

uint32_t id_map_get(const struct id_map *map, int64_t key) {
    return map->slots ? find_slot(map, key)->value : ID_MAP_NONE;
}

int64_t id_map_key(struct bytes name) {
    uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a; the map mixes it further
    for (size_t i = 0; i < name.size; i++) hash = (hash ^ name.data[i]) * 0x100000001b3u;
    return (int64_t)hash;
}
