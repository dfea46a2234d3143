// From things to their numbers, for things that stand in somebody else's array: texts, allocation sites.
//
//     hash(thing) --> slot { hash, index } --> things[index], which the caller compares
//
// Open addressing, at most half full, grows. Hashes should be seeded when their input is not trusted.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analysis/base/large_block.h"
#include "proto/bytes.h"

#define INDEX_NONE UINT32_MAX

struct index_table {
    struct growing_block slots;
    uint64_t slot_count;
    uint32_t count;
};

static inline uint64_t index_hash_mix(uint64_t h) {
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

uint64_t index_hash_bytes(uint64_t seed, struct bytes text);

typedef bool index_is_same(const void *context, uint32_t index);

// The index of the thing with this hash that is_same; INDEX_NONE when there is none.
uint32_t index_table_find(const struct index_table *table, uint64_t hash, index_is_same *is_same, const void *context);

// Adds an index that is not in the table. False when there is no memory.
bool index_table_add(struct index_table *table, uint64_t hash, uint32_t index);
void index_table_release(struct index_table *table);
