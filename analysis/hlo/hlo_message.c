#include "analysis/hlo/hlo_message.h"

bool hlo_message_fault(struct error *error, struct bytes blob, const struct wire *w, const char *message_name) {
    return error_at(error, ERROR_MALFORMED, w->at - blob.data, "damaged %s: expected %s", message_name, w->fault);
}

bool hlo_message_too_big(struct error *error, const struct arena *arena) {
    return error_set(error, ERROR_TOO_BIG, "the HLO module needs more than the %zu MiB that one module may take",
                     arena->limit_bytes >> 20);
}

bool hlo_column_start(struct hlo_column *column, struct arena *arena, size_t row_size, size_t bytes,
                      size_t bytes_a_row) {
    size_t capacity = bytes / bytes_a_row + 1;
    if (capacity > UINT32_MAX) return false;
    *column = (struct hlo_column){.arena = arena, .row_size = row_size, .capacity = (uint32_t)capacity};
    column->rows = arena_push_raw(arena, capacity, row_size);
    return column->rows != NULL;
}

bool hlo_column_grow(struct hlo_column *column) {
    if (column->capacity > UINT32_MAX / 2) return false;
    void *rows = arena_push_raw(column->arena, (size_t)column->capacity * 2, column->row_size);
    if (!rows) return false;
    memcpy(rows, column->rows, column->row_size * column->count);
    column->rows = rows;
    column->capacity *= 2;
    return true;
}
