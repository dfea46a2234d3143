#include "analysis/profile/steps/context_table.h"

#include <string.h>

enum { IDS_IN_PAGE = 16, FIRST_SLOTS = 1024 };

struct page_slot {
    int64_t type;
    uint64_t high;  // id / IDS_IN_PAGE
    uint32_t page;  // CONTEXT_NONE marks a free slot
};

void context_table_init(struct context_table *table) {
    *table = (struct context_table){.seed = (uint64_t)(uintptr_t)table * 0x9e3779b97f4a7c15u};
}

void context_table_release(struct context_table *table) {
    large_block_release(&table->slots);
    large_block_release(&table->pages);
}

static uint64_t mix(int64_t type, uint64_t high, uint64_t seed) {
    uint64_t h = (high ^ seed) + (uint64_t)type * 0x9e3779b97f4a7c15u;
    h = (h ^ (h >> 33)) * 0xff51afd7ed558ccdu;
    h = (h ^ (h >> 33)) * 0xc4ceb9fe1a85ec53u;
    return h ^ (h >> 33);
}

static struct page_slot *find_slot(const struct context_table *table, int64_t type, uint64_t high) {
    struct page_slot *slots = table->slots.data;
    uint64_t mask = table->slot_count - 1, at = mix(type, high, table->seed) & mask;
    while (slots[at].page != CONTEXT_NONE && (slots[at].high != high || slots[at].type != type)) at = (at + 1) & mask;
    return &slots[at];
}

static bool grow(struct context_table *table) {
    struct context_table larger = *table;
    larger.slots = (struct growing_block){0};
    larger.slot_count = table->slot_count ? 2 * table->slot_count : FIRST_SLOTS;
    if (!large_block_reserve(&larger.slots, larger.slot_count * sizeof(struct page_slot))) return false;
    memset(larger.slots.data, 0xff, larger.slot_count * sizeof(struct page_slot));
    const struct page_slot *old = table->slots.data;
    for (uint64_t i = 0; i < table->slot_count; i++) {
        if (old[i].page != CONTEXT_NONE) *find_slot(&larger, old[i].type, old[i].high) = old[i];
    }
    large_block_release(&table->slots);
    *table = larger;
    return true;
}

// A page of ids that nobody asked for yet.
static bool add_page(struct context_table *table, struct page_slot *slot, int64_t type, uint64_t high) {
    size_t page_bytes = IDS_IN_PAGE * sizeof(uint32_t);
    if (table->page_count >= CONTEXT_NONE || !large_block_reserve(&table->pages, (table->page_count + 1) * page_bytes))
        return false;
    memset((char *)table->pages.data + table->page_count * page_bytes, 0xff, page_bytes);
    *slot = (struct page_slot){type, high, (uint32_t)table->page_count++};
    return true;
}

uint32_t context_table_find(struct context_table *table, int64_t type, uint64_t id) {
    if (table->page_count * 2 >= table->slot_count && !grow(table)) return CONTEXT_NONE;
    struct page_slot *slot = find_slot(table, type, id / IDS_IN_PAGE);
    if (slot->page == CONTEXT_NONE && !add_page(table, slot, type, id / IDS_IN_PAGE)) return CONTEXT_NONE;
    uint32_t *context = (uint32_t *)table->pages.data + (uint64_t)slot->page * IDS_IN_PAGE + id % IDS_IN_PAGE;
    if (*context == CONTEXT_NONE && table->count < CONTEXT_NONE) *context = table->count++;
    return *context;
}

static bool join_page(struct context_table *table, const struct context_table *from, const struct page_slot *slot,
                      uint32_t *map) {
    const uint32_t *page = (const uint32_t *)from->pages.data + (uint64_t)slot->page * IDS_IN_PAGE;
    for (uint64_t i = 0; i < IDS_IN_PAGE; i++) {
        if (page[i] == CONTEXT_NONE) continue;
        map[page[i]] = context_table_find(table, slot->type, slot->high * IDS_IN_PAGE + i);
        if (map[page[i]] == CONTEXT_NONE) return false;
    }
    return true;
}

bool context_table_join(struct context_table *table, const struct context_table *from, uint32_t *map) {
    const struct page_slot *slots = from->slots.data;
    for (uint64_t i = 0; i < from->slot_count; i++) {
        if (slots[i].page != CONTEXT_NONE && !join_page(table, from, &slots[i], map)) return false;
    }
    return true;
}
