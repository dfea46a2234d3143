#include "server/text/number_columns.h"

bool number_columns_make(struct number_columns *columns, const char *const *keys, size_t key_count, size_t row_count,
                         struct arena *arena) {
    *columns = (struct number_columns){keys, key_count, row_count, NULL};
    columns->values = arena_push_raw(arena, row_count, key_count * sizeof *columns->values);
    return columns->values != NULL;
}

void number_columns_write(const struct number_columns *columns, struct json_writer *w) {
    for (size_t key = 0; key < columns->key_count; key++) {
        json_key(w, columns->keys[key]);
        json_open_array(w);
        for (size_t row = 0; row < columns->row_count; row++) {
            json_write_int64(w, columns->values[row * columns->key_count + key]);
        }
        json_close_array(w);
    }
}
