#include "analysis/compare/memory_trend.h"

#include <stdlib.h>

#include "analysis/base/string_table.h"

// --- Lines ---

struct ranked_line {
    struct bytes key;
    int64_t most_bytes;
};

static int by_most_bytes(const void *left, const void *right) {
    const struct ranked_line *a = left, *b = right;
    if (a->most_bytes != b->most_bytes) return a->most_bytes > b->most_bytes ? -1 : 1;
    return bytes_compare(a->key, b->key);
}

static size_t holder_count_of(const struct trend_figures *const *points, uint32_t count) {
    size_t sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += points[i] ? points[i]->holder_count : 0;
    return sum;
}

// Every key with the most that it holds anywhere; number 0 of the table is "", which may be a key.
static struct ranked_line *rank(const struct trend_figures *const *points, uint32_t count, struct arena *arena,
                                uint32_t *ranked_count) {
    struct string_table keys;
    struct ranked_line *ranked = arena_new(arena, struct ranked_line, holder_count_of(points, count) + 1);
    if (!ranked || !string_table_init(&keys, arena)) return NULL;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; points[i] && k < points[i]->holder_count; k++) {
            const struct trend_holder *holder = &points[i]->holders[k];
            struct ranked_line *line = &ranked[string_table_put(&keys, holder->key)];
            line->key = holder->key;
            if (holder->bytes > line->most_bytes) line->most_bytes = holder->bytes;
        }
    }
    *ranked_count = keys.count;
    if (keys.count) qsort(ranked, keys.count, sizeof *ranked, by_most_bytes);
    while (*ranked_count && ranked[*ranked_count - 1].most_bytes <= 0) --*ranked_count;
    return keys.has_failed ? NULL : ranked;
}

// The numbers of one point; `numbers` has the lines that are shown, from 1.
static void fill_point(const struct trend_figures *point, uint32_t at, const struct string_table *numbers,
                       struct trend_lines *lines) {
    lines->rest_bytes[at] = point ? point->peak_bytes : TREND_UNKNOWN;
    for (uint32_t line = 0; line < lines->count; line++)
        lines->bytes[(size_t)line * lines->point_count + at] = point ? 0 : TREND_UNKNOWN;
    for (uint32_t k = 0; point && k < point->holder_count; k++) {
        uint32_t number = string_table_find(numbers, point->holders[k].key);
        if (number == 0) continue;
        lines->bytes[(size_t)(number - 1) * lines->point_count + at] = point->holders[k].bytes;
        lines->rest_bytes[at] -= point->holders[k].bytes;
    }
}

bool trend_lines_make(const struct trend_figures *const *points, uint32_t count, uint32_t most, struct arena *arena,
                      struct trend_lines *lines) {
    struct string_table numbers;
    uint32_t ranked_count = 0;
    const struct ranked_line *ranked = rank(points, count, arena, &ranked_count);
    *lines = (struct trend_lines){.point_count = count, .count = ranked_count < most ? ranked_count : most};
    lines->keys = arena_new(arena, struct bytes, lines->count + 1);
    lines->bytes = arena_new(arena, int64_t, (size_t)lines->count * count + 1);
    lines->rest_bytes = arena_new(arena, int64_t, (size_t)count + 1);
    if (!ranked || !lines->keys || !lines->bytes || !lines->rest_bytes || !string_table_init(&numbers, arena))
        return false;
    for (uint32_t i = 0; i < lines->count; i++) {
        lines->keys[i] = ranked[i].key;
        string_table_put(&numbers, ranked[i].key);
    }
    for (uint32_t i = 0; i < count; i++) fill_point(points[i], i, &numbers, lines);
    return !numbers.has_failed;
}

// --- Jumps ---

uint32_t trend_point_before(const struct trend_figures *const *points, uint32_t at) {
    while (at > 0) {
        if (points[--at]) return at;
    }
    return TREND_NOWHERE;
}

uint32_t trend_largest_jump(const struct trend_figures *const *points, uint32_t count) {
    uint32_t best = TREND_NOWHERE, before = TREND_NOWHERE;
    int64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!points[i]) continue;
        int64_t delta = before == TREND_NOWHERE ? 0 : points[i]->peak_bytes - points[before]->peak_bytes;
        if (delta > 0 && delta >= most) {
            most = delta;
            best = i;
        }
        before = i;
    }
    return best;
}

// --- What differs ---

static int by_delta(const void *left, const void *right) {
    const struct trend_delta *a = left, *b = right;
    int64_t of_a = a->delta_bytes < 0 ? -a->delta_bytes : a->delta_bytes;
    int64_t of_b = b->delta_bytes < 0 ? -b->delta_bytes : b->delta_bytes;
    if (of_a != of_b) return of_a > of_b ? -1 : 1;
    if (a->delta_bytes != b->delta_bytes) return a->delta_bytes > b->delta_bytes ? -1 : 1;
    return bytes_compare(a->key, b->key);
}

static struct trend_delta *delta_of(struct trend_delta *rows, struct string_table *keys, struct bytes key) {
    struct trend_delta *row = &rows[string_table_put(keys, key)];
    row->key = row->a_key = key;
    return row;
}

struct trend_delta *trend_deltas_make(const struct trend_figures *a, const struct trend_figures *b, struct arena *arena,
                                      uint32_t *count) {
    struct string_table keys;
    struct trend_delta *rows = arena_new(arena, struct trend_delta, (size_t)a->holder_count + b->holder_count + 1);
    if (!rows || !string_table_init(&keys, arena)) return NULL;
    for (uint32_t i = 0; i < a->holder_count; i++) {
        struct trend_delta *row = delta_of(rows, &keys, a->holders[i].key);
        row->a_bytes = a->holders[i].bytes;
        row->a_buffers = a->holders[i].buffers;
    }
    for (uint32_t i = 0; i < b->holder_count; i++) {
        struct trend_delta *row = delta_of(rows, &keys, b->holders[i].key);
        row->b_bytes = b->holders[i].bytes;
        row->b_buffers = b->holders[i].buffers;
    }
    for (uint32_t i = 0; i < keys.count; i++) rows[i].delta_bytes = rows[i].b_bytes - rows[i].a_bytes;
    qsort(rows, keys.count, sizeof *rows, by_delta);
    for (*count = 0; *count < keys.count && rows[*count].delta_bytes;) ++*count;
    return keys.has_failed ? NULL : rows;
}
