#include "analysis/profile/steps/context_table.h"

enum { IDS_IN_PAGE = 16, PAGES_EXPECTED = 512 };

struct page {
    int64_t type;
    uint64_t high;  // id / IDS_IN_PAGE
    uint32_t contexts[IDS_IN_PAGE];
};

bool context_table_init(struct context_table *table, struct arena *arena) {
    *table = (struct context_table){0};
    return id_map_init(&table->page_of, arena, PAGES_EXPECTED);
}

void context_table_release(struct context_table *table) {
    large_block_release(&table->pages);
}

// A page of ids that nobody asked for yet.
static struct page *add_page(struct context_table *table, uint32_t *place, int64_t type, uint64_t high) {
    if (table->page_count == CONTEXT_NONE ||
        !large_block_reserve(&table->pages, ((size_t)table->page_count + 1) * sizeof(struct page)))
        return NULL;
    struct page *page = (struct page *)table->pages.data + table->page_count;
    page->type = type;
    page->high = high;
    memset(page->contexts, 0xff, sizeof page->contexts);
    *place = table->page_count++;
    return page;
}

static struct page *page_of(struct context_table *table, int64_t type, uint64_t high) {
    uint64_t key = id_map_mix(high ^ table->page_of.seed) + (uint64_t)type * 0x9e3779b97f4a7c15u;
    for (;; key++) {
        uint32_t *place = id_map_place(&table->page_of, (int64_t)key);
        if (!place) return NULL;
        if (*place == ID_MAP_NONE) return add_page(table, place, type, high);
        struct page *page = (struct page *)table->pages.data + *place;
        if (page->high == high && page->type == type) return page;
    }
}

uint32_t context_table_find(struct context_table *table, int64_t type, uint64_t id) {
    struct page *page = page_of(table, type, id / IDS_IN_PAGE);
    if (!page) return CONTEXT_NONE;
    uint32_t *context = &page->contexts[id % IDS_IN_PAGE];
    if (*context == CONTEXT_NONE && table->count < CONTEXT_NONE) *context = table->count++;
    return *context;
}

bool context_table_join(struct context_table *table, const struct context_table *from, uint32_t *map) {
    const struct page *page = from->pages.data;
    for (const struct page *end = page + from->page_count; page < end; page++) {
        for (uint64_t i = 0; i < IDS_IN_PAGE; i++) {
            if (page->contexts[i] == CONTEXT_NONE) continue;
            uint32_t context = context_table_find(table, page->type, page->high * IDS_IN_PAGE + i);
            map[page->contexts[i]] = context;
            if (context == CONTEXT_NONE) return false;
        }
    }
    return true;
}
