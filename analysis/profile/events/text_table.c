#include "analysis/profile/events/text_table.h"

struct wanted_text {
    const struct bytes *texts;
    struct bytes text;
};

bool text_table_init(struct text_table *table, struct arena *arena) {
    *table = (struct text_table){.arena = arena, .seed = index_hash_mix((uint64_t)(uintptr_t)table)};
    return text_table_put(table, (struct bytes){0}) == 0;
}

void text_table_release(struct text_table *table) {
    large_block_release(&table->texts);
    index_table_release(&table->index);
}

static bool is_same(const void *context, uint32_t index) {
    const struct wanted_text *wanted = context;
    return bytes_equal(wanted->texts[index], wanted->text);
}

static uint32_t add(struct text_table *table, struct bytes text, uint64_t hash) {
    uint8_t *copy = arena_push_raw(table->arena, text.size ? text.size : 1, 1);
    if (!copy || table->count == INDEX_NONE) return INDEX_NONE;
    if (!large_block_reserve(&table->texts, ((size_t)table->count + 1) * sizeof text)) return INDEX_NONE;
    if (!index_table_add(&table->index, hash, table->count)) return INDEX_NONE;
    if (text.size) memcpy(copy, text.data, text.size);
    ((struct bytes *)table->texts.data)[table->count] = (struct bytes){copy, text.size};
    return table->count++;
}

uint32_t text_table_put(struct text_table *table, struct bytes text) {
    uint64_t hash = index_hash_bytes(table->seed, text);
    struct wanted_text wanted = {table->texts.data, text};
    uint32_t found = index_table_find(&table->index, hash, is_same, &wanted);
    return found == INDEX_NONE ? add(table, text, hash) : found;
}

struct bytes text_table_get(const struct text_table *table, uint32_t number) {
    return ((const struct bytes *)table->texts.data)[number];
}
