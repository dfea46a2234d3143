#include "analysis/profile/memory_columns.h"

#include <string.h>

static const uint8_t widths[COLUMN_COUNT] = {8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 1};

enum { FIRST_CAPACITY = 1024 };

static bool reserve(struct memory_columns *columns, uint32_t capacity) {
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (!large_block_reserve(&columns->blocks[i], (size_t)capacity * widths[i])) return false;
    }
    columns->capacity = capacity;
    return true;
}

static bool grow(struct memory_columns *columns) {
    if (columns->capacity > UINT32_MAX / 2) return false;
    return reserve(columns, columns->capacity ? 2 * columns->capacity : FIRST_CAPACITY);
}

void memory_columns_expect(struct memory_columns *columns, uint64_t rows) {
    if (rows > columns->capacity && rows <= UINT32_MAX) (void)!reserve(columns, (uint32_t)rows);
}

// Blocks are zero where nothing was written: what is 0 throughout (a stack, the one timeline) then takes no memory.
bool memory_columns_add(struct memory_columns *columns, const struct memory_row *row) {
    if (columns->count == columns->capacity && !grow(columns)) return false;
    uint32_t at = columns->count++;
    struct growing_block *blocks = columns->blocks;
    ((int64_t *)blocks[COLUMN_TIME].data)[at] = row->time_ps;
    ((int64_t *)blocks[COLUMN_HEAP].data)[at] = row->heap_bytes;
    if (row->stack_bytes) ((int64_t *)blocks[COLUMN_STACK].data)[at] = row->stack_bytes;
    ((int64_t *)blocks[COLUMN_FREE].data)[at] = row->free_bytes;
    ((int64_t *)blocks[COLUMN_PEAK].data)[at] = row->peak_bytes;
    ((double *)blocks[COLUMN_FRAGMENTATION].data)[at] = row->fragmentation;
    ((uint64_t *)blocks[COLUMN_ADDRESS].data)[at] = row->address;
    ((int64_t *)blocks[COLUMN_STEP].data)[at] = row->step;
    ((uint32_t *)blocks[COLUMN_SITE].data)[at] = row->site;
    ((uint32_t *)blocks[COLUMN_THREAD].data)[at] = row->thread;
    if (row->timeline) ((uint32_t *)blocks[COLUMN_TIMELINE].data)[at] = row->timeline;
    ((uint8_t *)blocks[COLUMN_FLAGS].data)[at] = row->flags;
    columns->has_stack |= row->stack_bytes != 0;
    columns->has_timelines |= row->timeline != 0;
    return true;
}

void memory_columns_release(struct memory_columns *columns) {
    for (int i = 0; i < COLUMN_COUNT; i++) large_block_release(&columns->blocks[i]);
    *columns = (struct memory_columns){0};
}

size_t memory_columns_bytes(const struct memory_columns *columns) {
    size_t row = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) row += widths[i];
    return row * columns->count;
}

// --- Order: a stable merge sort of row numbers that takes runs as they are ---

struct sort_keys {
    const int64_t *time_ps;
    const uint32_t *timeline;
};

static inline bool is_before(const struct sort_keys *keys, uint32_t a, uint32_t b) {
    if (keys->timeline[a] != keys->timeline[b]) return keys->timeline[a] < keys->timeline[b];
    return keys->time_ps[a] < keys->time_ps[b];
}

static uint32_t run_end(const struct sort_keys *keys, const uint32_t *rows, uint32_t at, uint32_t count) {
    do at++;
    while (at < count && !is_before(keys, rows[at], rows[at - 1]));
    return at;
}

static void merge(const struct sort_keys *keys, const uint32_t *from, uint32_t left, uint32_t right, uint32_t end,
                  uint32_t *to) {
    uint32_t a = left, b = right, at = left;
    while (a < right && b < end) to[at++] = is_before(keys, from[b], from[a]) ? from[b++] : from[a++];
    memcpy(to + at, from + a, (right - a) * sizeof *to);
    memcpy(to + at + (right - a), from + b, (end - b) * sizeof *to);
}

// Merges neighbouring runs; true when one run was left.
static bool merge_runs(const struct sort_keys *keys, const uint32_t *from, uint32_t *to, uint32_t count) {
    uint32_t merges = 0;
    for (uint32_t at = 0; at < count;) {
        uint32_t middle = run_end(keys, from, at, count);
        uint32_t end = middle < count ? run_end(keys, from, middle, count) : count;
        merge(keys, from, at, middle, end, to);
        merges++;
        at = end;
    }
    return merges <= 1;
}

static bool find_order(const struct sort_keys *keys, uint32_t count, struct growing_block *order) {
    struct growing_block other = {0};
    size_t size = (size_t)count * sizeof(uint32_t);
    if (!large_block_reserve(order, size) || !large_block_reserve(&other, size)) {
        large_block_release(&other);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) ((uint32_t *)order->data)[i] = i;
    bool is_sorted = false;
    while (!is_sorted) {
        is_sorted = merge_runs(keys, order->data, other.data, count);
        struct growing_block swapped = *order;
        *order = other;
        other = swapped;
    }
    large_block_release(&other);
    return true;
}

static void gather(const struct growing_block *from, struct growing_block *to, const uint32_t *order, uint32_t count,
                   uint8_t width) {
    for (uint32_t i = 0; i < count && width == 8; i++) ((uint64_t *)to->data)[i] = ((uint64_t *)from->data)[order[i]];
    for (uint32_t i = 0; i < count && width == 4; i++) ((uint32_t *)to->data)[i] = ((uint32_t *)from->data)[order[i]];
    for (uint32_t i = 0; i < count && width == 1; i++) ((uint8_t *)to->data)[i] = ((uint8_t *)from->data)[order[i]];
}

static bool is_written(const struct memory_columns *columns, enum memory_column column) {
    if (column == COLUMN_STACK) return columns->has_stack;
    if (column == COLUMN_TIMELINE) return columns->has_timelines;
    return column != COLUMN_PARTNER;
}

// One spare column goes round: each column is gathered into it and leaves its own block as the next spare. Widths only
// fall, so the spare is always large enough.
static bool put_in_order(struct memory_columns *columns, const uint32_t *order) {
    struct growing_block spare = {0};
    if (!large_block_reserve(&spare, (size_t)columns->capacity * widths[0])) return false;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        struct growing_block block = columns->blocks[i];
        if (!is_written(columns, (enum memory_column)i)) continue;
        gather(&block, &spare, order, columns->count, widths[i]);
        columns->blocks[i] = spare;
        spare = block;
    }
    large_block_release(&spare);
    return true;
}

bool memory_columns_sort(struct memory_columns *columns, struct growing_block *order) {
    struct sort_keys keys = {memory_column_int64(columns, COLUMN_TIME), memory_column_uint32(columns, COLUMN_TIMELINE)};
    uint32_t at = 1;
    *order = (struct growing_block){0};
    while (at < columns->count && !is_before(&keys, at, at - 1)) at++;
    if (at >= columns->count) return true;
    return find_order(&keys, columns->count, order) && put_in_order(columns, order->data);
}
