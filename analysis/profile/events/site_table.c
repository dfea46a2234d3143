#include "analysis/profile/events/site_table.h"

enum { SITES_EXPECTED = 1024 };

bool site_table_init(struct site_table *table, struct arena *arena) {
    *table = (struct site_table){0};
    memset(table->recent, 0xff, sizeof table->recent);
    return id_map_init(&table->site_of, arena, SITES_EXPECTED);
}

void site_table_release(struct site_table *table) {
    large_block_release(&table->keys);
}

static inline bool is_equal(const struct site_key *a, const struct site_key *b) {
    return a->op == b->op && a->requested_bytes == b->requested_bytes && a->allocated_bytes == b->allocated_bytes &&
           a->shape == b->shape && a->region_type == b->region_type && a->data_type == b->data_type;
}

static uint64_t hash_of(const struct site_table *table, const struct site_key *key) {
    uint64_t texts = (uint64_t)key->op << 32 | key->shape;
    uint64_t hash = id_map_mix(table->site_of.seed ^ texts) + key->region_type;
    hash = id_map_mix(hash ^ (uint64_t)key->requested_bytes) + (uint64_t)key->data_type;
    return id_map_mix(hash ^ (uint64_t)key->allocated_bytes);
}

static uint32_t find_or_add(struct site_table *table, const struct site_key *key) {
    if (!large_block_reserve(&table->keys, ((size_t)table->count + 1) * sizeof *key)) return SITE_NONE;
    struct site_key *keys = table->keys.data;
    for (uint64_t hash = hash_of(table, key);; hash++) {
        uint32_t *place = id_map_place(&table->site_of, (int64_t)hash);
        if (!place) return SITE_NONE;
        if (*place != ID_MAP_NONE && !is_equal(&keys[*place], key)) continue;
        if (*place == ID_MAP_NONE) {
            keys[table->count] = *key;
            *place = table->count++;
        }
        return *place;
    }
}

uint32_t site_table_put(struct site_table *table, const struct site_key *key) {
    uint64_t cheap = ((uint64_t)key->op * 31 + key->shape + (uint64_t)key->requested_bytes) * 0x9e3779b97f4a7c15u;
    uint32_t *recent = &table->recent[cheap >> 52];
    const struct site_key *keys = table->keys.data;
    if (*recent == SITE_NONE || !is_equal(&keys[*recent], key)) *recent = find_or_add(table, key);
    return *recent;
}

bool site_table_finish(const struct site_table *table, const struct string_table *texts, struct arena *arena,
                       struct allocation_sites *sites) {
    const struct site_key *keys = table->keys.data;
    sites->count = table->count;
    sites->sites = arena_push_raw(arena, table->count, sizeof *sites->sites);
    if (!sites->sites) return false;
    for (uint32_t i = 0; i < table->count; i++) {
        sites->sites[i] = (struct allocation_site){
            texts->texts[keys[i].op], texts->texts[keys[i].region_type], texts->texts[keys[i].shape],
            keys[i].data_type,        keys[i].requested_bytes,           keys[i].allocated_bytes,
        };
    }
    return true;
}
