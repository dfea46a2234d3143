#include "analysis/base/index_table.h"

#include <string.h>

enum { FIRST_SLOTS = 256 };

struct index_slot {
    uint32_t hash;
    uint32_t index;  // INDEX_NONE marks a free slot
};

// FNV-1a by eight bytes, mixed.
uint64_t index_hash_bytes(uint64_t seed, struct bytes text) {
    uint64_t hash = seed ^ text.size;
    size_t at = 0;
    for (; at + 8 <= text.size; at += 8) {
        uint64_t word;
        memcpy(&word, text.data + at, 8);
        hash = index_hash_mix(hash ^ word);
    }
    for (; at < text.size; at++) hash = (hash ^ text.data[at]) * 0x100000001b3u;
    return index_hash_mix(hash);
}

uint32_t index_table_find(const struct index_table *table, uint64_t hash, index_is_same *is_same, const void *context) {
    const struct index_slot *slots = table->slots.data;
    uint64_t mask = table->slot_count - 1;
    if (table->slot_count == 0) return INDEX_NONE;
    for (uint64_t at = (hash >> 32) & mask; slots[at].index != INDEX_NONE; at = (at + 1) & mask) {
        if (slots[at].hash == (uint32_t)(hash >> 32) && is_same(context, slots[at].index)) return slots[at].index;
    }
    return INDEX_NONE;
}

// Slots keep the upper half of the hash, which also places them.
static void put(struct index_table *table, struct index_slot slot) {
    struct index_slot *slots = table->slots.data;
    uint64_t mask = table->slot_count - 1, at = slot.hash & mask;
    while (slots[at].index != INDEX_NONE) at = (at + 1) & mask;
    slots[at] = slot;
}

static bool grow(struct index_table *table) {
    struct index_table larger = {.slot_count = table->slot_count ? 2 * table->slot_count : FIRST_SLOTS,
                                 .count = table->count};
    if (larger.slot_count > UINT32_MAX) return false;
    if (!large_block_reserve(&larger.slots, larger.slot_count * sizeof(struct index_slot))) return false;
    memset(larger.slots.data, 0xff, larger.slot_count * sizeof(struct index_slot));
    const struct index_slot *old = table->slots.data;
    for (uint64_t i = 0; i < table->slot_count; i++) {
        if (old[i].index != INDEX_NONE) put(&larger, old[i]);
    }
    large_block_release(&table->slots);
    *table = larger;
    return true;
}

bool index_table_add(struct index_table *table, uint64_t hash, uint32_t index) {
    if ((uint64_t)table->count * 2 >= table->slot_count && !grow(table)) return false;
    put(table, (struct index_slot){(uint32_t)(hash >> 32), index});
    table->count++;
    return true;
}

void index_table_release(struct index_table *table) {
    large_block_release(&table->slots);
    *table = (struct index_table){0};
}
