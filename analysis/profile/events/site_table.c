#include "analysis/profile/events/site_table.h"

struct wanted_site {
    const struct site_key *keys;
    const struct site_key *key;
};

void site_table_init(struct site_table *table) {
    *table = (struct site_table){.seed = index_hash_mix((uint64_t)(uintptr_t)table)};
    memset(table->recent, 0xff, sizeof table->recent);
}

void site_table_release(struct site_table *table) {
    large_block_release(&table->keys);
    index_table_release(&table->index);
}

static inline bool is_equal(const struct site_key *a, const struct site_key *b) {
    return a->op == b->op && a->requested_bytes == b->requested_bytes && a->allocated_bytes == b->allocated_bytes &&
           a->shape == b->shape && a->region_type == b->region_type && a->data_type == b->data_type;
}

static bool is_same(const void *context, uint32_t index) {
    const struct wanted_site *wanted = context;
    return is_equal(&wanted->keys[index], wanted->key);
}

static uint64_t hash_of(const struct site_table *table, const struct site_key *key) {
    uint64_t texts = (uint64_t)key->op << 32 | key->shape;
    uint64_t hash = index_hash_mix(table->seed ^ texts) + key->region_type;
    hash = index_hash_mix(hash ^ (uint64_t)key->requested_bytes) + (uint64_t)key->data_type;
    return index_hash_mix(hash ^ (uint64_t)key->allocated_bytes);
}

static uint32_t find_or_add(struct site_table *table, const struct site_key *key) {
    uint64_t hash = hash_of(table, key);
    struct wanted_site wanted = {table->keys.data, key};
    uint32_t found = index_table_find(&table->index, hash, is_same, &wanted);
    if (found != INDEX_NONE) return found;
    if (!large_block_reserve(&table->keys, ((size_t)table->count + 1) * sizeof *key)) return INDEX_NONE;
    if (!index_table_add(&table->index, hash, table->count)) return INDEX_NONE;
    ((struct site_key *)table->keys.data)[table->count] = *key;
    return table->count++;
}

uint32_t site_table_put(struct site_table *table, const struct site_key *key) {
    uint64_t cheap = ((uint64_t)key->op * 31 + key->shape + (uint64_t)key->requested_bytes) * 0x9e3779b97f4a7c15u;
    uint32_t *recent = &table->recent[cheap >> 52];
    const struct site_key *keys = table->keys.data;
    if (*recent == INDEX_NONE || !is_equal(&keys[*recent], key)) *recent = find_or_add(table, key);
    return *recent;
}

bool site_table_finish(const struct site_table *table, const struct text_table *texts, struct arena *arena,
                       struct allocation_sites *sites) {
    const struct site_key *keys = table->keys.data;
    sites->count = table->count;
    sites->sites = arena_push_raw(arena, table->count, sizeof *sites->sites);
    if (!sites->sites) return false;
    for (uint32_t i = 0; i < table->count; i++) {
        sites->sites[i] = (struct allocation_site){
            text_table_get(texts, keys[i].op),
            text_table_get(texts, keys[i].region_type),
            text_table_get(texts, keys[i].shape),
            keys[i].data_type,
            keys[i].requested_bytes,
            keys[i].allocated_bytes,
        };
    }
    return true;
}
