#include "analysis/base/string_table.h"

#include "analysis/base/growing_array.h"

enum { TEXTS_AT_FIRST = 1024 };

bool string_table_init(struct string_table *table, struct arena *arena) {
    *table = (struct string_table){.arena = arena};
    if (!id_map_init(&table->index_of, arena, TEXTS_AT_FIRST)) return false;
    string_table_put(table, (struct bytes){0});
    return !table->has_failed;
}

// Where the number of `text` is, or ID_MAP_NONE to be set. NULL at the arena's limit.
static uint32_t *place_of(struct string_table *table, struct bytes text) {
    for (uint64_t key = (uint64_t)id_map_key(text);; key++) {
        uint32_t *place = id_map_place(&table->index_of, (int64_t)key);
        if (!place || *place == ID_MAP_NONE || bytes_equal(table->texts[*place], text)) return place;
    }
}

static uint32_t fail(struct string_table *table) {
    table->has_failed = true;
    return 0;
}

// With an `owner`, a new text is copied there.
static uint32_t put(struct string_table *table, struct bytes text, struct arena *owner) {
    bool has_room = growing_array_has_room(table->arena, &table->texts, table->count, sizeof *table->texts);
    uint32_t *place = table->has_failed || !has_room ? NULL : place_of(table, text);
    if (!place) return fail(table);
    if (*place != ID_MAP_NONE) return *place;
    if (owner && text.size) {
        uint8_t *copy = arena_push_raw(owner, text.size, 1);
        if (!copy) return fail(table);
        text.data = memcpy(copy, text.data, text.size);
    }
    table->texts[table->count] = text;
    return *place = table->count++;
}

uint32_t string_table_put(struct string_table *table, struct bytes text) {
    return put(table, text, NULL);
}

uint32_t string_table_copy(struct string_table *table, struct bytes text, struct arena *arena) {
    return put(table, text, arena);
}

uint32_t string_table_find(const struct string_table *table, struct bytes text) {
    for (uint64_t key = (uint64_t)id_map_key(text);; key++) {
        uint32_t number = id_map_get(&table->index_of, (int64_t)key);
        if (number == ID_MAP_NONE) return 0;
        if (bytes_equal(table->texts[number], text)) return number;
    }
}
