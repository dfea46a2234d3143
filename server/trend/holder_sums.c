#include "server/trend/holder_sums.h"

#include <stdlib.h>

#include "analysis/base/growing_array.h"

bool holder_sums_init(struct holder_sums *sums, struct arena *arena) {
    *sums = (struct holder_sums){.arena = arena};
    return string_table_init(&sums->keys, arena) &&
           growing_array_add(arena, sums->rows, sums->row_count, (struct trend_holder){.bytes = 0});
}

static bool has_row(struct holder_sums *sums, uint32_t number, struct bytes key) {
    return number < sums->row_count ||
           growing_array_add(sums->arena, sums->rows, sums->row_count, (struct trend_holder){.key = key});
}

void holder_sums_add(struct holder_sums *sums, struct bytes key, int64_t bytes, uint32_t buffers) {
    struct bytes named = key.size ? key : BYTES("(unknown)");
    uint32_t number = string_table_put(&sums->keys, named);
    if (number == 0 || !has_row(sums, number, named)) {
        sums->has_failed = true;
        return;
    }
    struct trend_holder *row = &sums->rows[number];
    row->bytes = (int64_t)((uint64_t)row->bytes + (uint64_t)bytes);
    row->buffers += buffers;
}

static int by_bytes(const void *left, const void *right) {
    const struct trend_holder *a = left, *b = right;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    return bytes_compare(a->key, b->key);
}

bool holder_sums_finish(struct holder_sums *sums, struct arena *arena, struct trend_figures *figures) {
    uint32_t count = sums->row_count - 1;
    if (sums->has_failed) return false;
    if (count) qsort(sums->rows + 1, count, sizeof *sums->rows, by_bytes);
    figures->holder_count = count < HOLDERS_MAX ? count : HOLDERS_MAX;
    figures->holders = arena_new(arena, struct trend_holder, figures->holder_count + 1);
    for (uint32_t i = 0; figures->holders && i < figures->holder_count; i++) {
        const struct trend_holder *row = &sums->rows[i + 1];
        const char *key = arena_string(arena, row->key);
        if (!key) return false;
        figures->holders[i] = (struct trend_holder){{(const uint8_t *)key, row->key.size}, row->bytes, row->buffers};
    }
    return figures->holders != NULL;
}
