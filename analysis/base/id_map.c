#include "analysis/base/id_map.h"

static bool make_slots(struct id_map *map, size_t slots) {
    map->slots = arena_push_raw(map->arena, slots, sizeof *map->slots);
    map->mask = slots - 1;
    if (map->slots) memset(map->slots, 0xff, slots * sizeof *map->slots);
    return map->slots != NULL;
}

bool id_map_init(struct id_map *map, struct arena *arena, size_t count) {
    size_t slots = 8;
    *map = (struct id_map){.arena = arena};
    while (slots / 2 < count) {
        if (slots > SIZE_MAX / 4) return false;
        slots *= 2;
    }
    if (!make_slots(map, slots)) return false;
    map->seed = (uint64_t)(uintptr_t)map->slots * 0x9e3779b97f4a7c15u;
    return true;
}

static inline struct id_map_slot *find_slot(const struct id_map *map, int64_t key) {
    uint64_t at = id_map_mix((uint64_t)key ^ map->seed) & map->mask;
    while (map->slots[at].value != ID_MAP_NONE && map->slots[at].key != key) at = (at + 1) & map->mask;
    return &map->slots[at];
}

static bool grow(struct id_map *map) {
    struct id_map larger = *map;
    if (map->mask > SIZE_MAX / 4 || !make_slots(&larger, 2 * ((size_t)map->mask + 1))) return false;
    for (uint64_t i = 0; i <= map->mask; i++) {
        if (map->slots[i].value != ID_MAP_NONE) *find_slot(&larger, map->slots[i].key) = map->slots[i];
    }
    *map = larger;
    return true;
}

uint32_t *id_map_place(struct id_map *map, int64_t key) {
    struct id_map_slot *slot = find_slot(map, key);
    if (slot->value != ID_MAP_NONE) return &slot->value;
    if (map->count > map->mask / 2) {
        if (!grow(map)) return NULL;
        slot = find_slot(map, key);
    }
    slot->key = key;
    map->count++;
    return &slot->value;
}

bool id_map_put(struct id_map *map, int64_t key, uint32_t value) {
    uint32_t *place = id_map_place(map, key);
    if (!place || *place != ID_MAP_NONE) return false;
    *place = value;
    return true;
}

uint32_t id_map_get(const struct id_map *map, int64_t key) {
    return map->slots ? find_slot(map, key)->value : ID_MAP_NONE;
}

// FNV-1a by eight bytes, mixed; the seed is where the program lies.
int64_t id_map_key(struct bytes name) {
    uint64_t hash = (uint64_t)(uintptr_t)&id_map_key ^ name.size;
    size_t at = 0;
    for (; at + 8 <= name.size; at += 8) {
        uint64_t word;
        memcpy(&word, name.data + at, 8);
        hash = id_map_mix(hash ^ word);
    }
    for (; at < name.size; at++) hash = (hash ^ name.data[at]) * 0x100000001b3u;
    return (int64_t)id_map_mix(hash);
}
