#include "server/text/string_table.h"

enum { FIRST_CAPACITY = 1024 };

// Makes room for twice as many texts: a new array and a new map on the arena.
static bool grow(struct string_table *table) {
    uint32_t capacity = table->capacity ? table->capacity * 2 : FIRST_CAPACITY;
    struct bytes *texts = capacity < table->capacity ? NULL : arena_push_raw(table->arena, capacity, sizeof *texts);
    struct id_map index_of;
    if (!texts || !id_map_init(&index_of, table->arena, capacity)) return false;
    if (table->count) memcpy(texts, table->texts, table->count * sizeof *texts);
    for (uint32_t i = 0; i < table->count; i++) id_map_put(&index_of, id_map_key(texts[i]), i);
    table->texts = texts;
    table->index_of = index_of;
    table->capacity = capacity;
    return true;
}

bool string_table_init(struct string_table *table, struct arena *arena) {
    *table = (struct string_table){.arena = arena};
    if (!grow(table)) return false;
    string_table_put(table, (struct bytes){0});
    return true;
}

bool string_table_has_failed(const struct string_table *table) {
    return table->capacity == 0;
}

uint32_t string_table_put(struct string_table *table, struct bytes text) {
    if (string_table_has_failed(table)) return 0;
    int64_t key = id_map_key(text);
    uint32_t found = id_map_get(&table->index_of, key);
    if (found != ID_MAP_NONE && bytes_equal(table->texts[found], text)) return found;
    if (table->count == table->capacity && !grow(table)) {
        *table = (struct string_table){.arena = table->arena};
        return 0;
    }
    id_map_put(&table->index_of, key, table->count);
    table->texts[table->count] = text;
    return table->count++;
}

void string_table_write(const struct string_table *table, struct json_writer *w) {
    json_key(w, "strings");
    json_open_array(w);
    for (uint32_t i = 0; i < table->count; i++) json_write_string(w, table->texts[i]);
    json_close_array(w);
}
