#include "analysis/profile/events/memory_columns.h"

#include <string.h>

#include "analysis/base/parallel.h"

static const uint8_t widths[COLUMN_COUNT] = {8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 4, 1};

enum { PAGE_BYTES = 4096, ROW_BYTES = 81 };

static bool is_written(const struct memory_columns *columns, int column) {
    if (column == COLUMN_STACK) return columns->has_stack;
    if (column == COLUMN_TIMELINE) return columns->has_timelines;
    return column != COLUMN_PARTNER;
}

// A new block, so that what was not written stays zero. Columns begin on pages: a capacity is a number of pages.
static bool reserve(struct memory_columns *columns, uint64_t rows) {
    uint64_t capacity = (rows + PAGE_BYTES - 1) & ~((uint64_t)PAGE_BYTES - 1);
    struct memory_columns larger = *columns;
    larger.block = (struct growing_block){0};
    if (capacity > UINT32_MAX || !large_block_reserve(&larger.block, (size_t)capacity * ROW_BYTES)) return false;
    larger.capacity = (uint32_t)capacity;
    uint8_t *at = larger.block.data;
    for (int i = 0; i < COLUMN_COUNT; at += (size_t)capacity * widths[i], i++) {
        larger.column[i] = at;
        if (columns->count && is_written(columns, i))
            memcpy(at, columns->column[i], (size_t)columns->count * widths[i]);
    }
    large_block_release(&columns->block);
    *columns = larger;
    return true;
}

void memory_columns_expect(struct memory_columns *columns, uint64_t rows) {
    if (rows > columns->capacity) (void)!reserve(columns, rows);
}

// Blocks are zero where nothing was written: what is 0 throughout (a stack, the one timeline) then takes no memory.
bool memory_columns_add(struct memory_columns *columns, const struct memory_row *row) {
    if (columns->count == columns->capacity && !reserve(columns, 2 * (uint64_t)columns->count + 1)) return false;
    uint32_t at = columns->count++;
    void *const *column = columns->column;
    ((int64_t *)column[COLUMN_TIME])[at] = row->time_ps;
    ((int64_t *)column[COLUMN_HEAP])[at] = row->heap_bytes;
    if (row->stack_bytes) ((int64_t *)column[COLUMN_STACK])[at] = row->stack_bytes;
    ((int64_t *)column[COLUMN_FREE])[at] = row->free_bytes;
    ((int64_t *)column[COLUMN_PEAK])[at] = row->peak_bytes;
    ((double *)column[COLUMN_FRAGMENTATION])[at] = row->fragmentation;
    ((uint64_t *)column[COLUMN_ADDRESS])[at] = row->address;
    ((int64_t *)column[COLUMN_STEP])[at] = row->step;
    ((uint32_t *)column[COLUMN_SITE])[at] = row->site;
    ((uint32_t *)column[COLUMN_THREAD])[at] = row->thread;
    if (row->timeline) ((uint32_t *)column[COLUMN_TIMELINE])[at] = row->timeline;
    ((uint8_t *)column[COLUMN_FLAGS])[at] = row->flags;
    columns->has_stack |= row->stack_bytes != 0;
    columns->has_timelines |= row->timeline != 0;
    return true;
}

void memory_columns_release(struct memory_columns *columns) {
    large_block_release(&columns->block);
    *columns = (struct memory_columns){0};
}

size_t memory_columns_bytes(const struct memory_columns *columns) {
    size_t bytes = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        size_t column = (size_t)columns->count * widths[i],
               touched = (column + PAGE_BYTES - 1) & ~((size_t)PAGE_BYTES - 1);
        bytes += touched;
    }
    return bytes;
}

// --- Order: a stable merge sort of row numbers that takes runs as they are ---

struct sort_keys {
    const int64_t *time_ps[MEMORY_COLUMNS_MAX_PARTS];
    const uint32_t *timeline[MEMORY_COLUMNS_MAX_PARTS];
    uint32_t split, count;  // rows of part 0, of both
    bool has_timelines;
};

static struct sort_keys keys_of(const struct memory_columns *parts, size_t part_count) {
    struct sort_keys keys = {.split = parts[0].count};
    for (size_t i = 0; i < part_count; i++) {
        keys.time_ps[i] = memory_column_int64(&parts[i], COLUMN_TIME);
        keys.timeline[i] = memory_column_uint32(&parts[i], COLUMN_TIMELINE);
        keys.count += parts[i].count;
        keys.has_timelines |= parts[i].has_timelines;
    }
    return keys;
}

static inline int64_t time_of(const struct sort_keys *keys, uint32_t row) {
    return row < keys->split ? keys->time_ps[0][row] : keys->time_ps[1][row - keys->split];
}

static inline uint32_t timeline_of(const struct sort_keys *keys, uint32_t row) {
    return row < keys->split ? keys->timeline[0][row] : keys->timeline[1][row - keys->split];
}

static inline bool is_before(const struct sort_keys *keys, uint32_t a, uint32_t b) {
    if (keys->has_timelines && timeline_of(keys, a) != timeline_of(keys, b))
        return timeline_of(keys, a) < timeline_of(keys, b);
    return time_of(keys, a) < time_of(keys, b);
}

static bool is_in_order(const struct sort_keys *keys) {
    for (uint32_t row = 1; row < keys->count; row++) {
        if (is_before(keys, row, row - 1)) return false;
    }
    return true;
}

static uint32_t run_end(const struct sort_keys *keys, const uint32_t *rows, uint32_t at) {
    do at++;
    while (at < keys->count && !is_before(keys, rows[at], rows[at - 1]));
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
static bool merge_runs(const struct sort_keys *keys, const uint32_t *from, uint32_t *to) {
    uint32_t merges = 0;
    for (uint32_t at = 0; at < keys->count;) {
        uint32_t middle = run_end(keys, from, at);
        uint32_t end = middle < keys->count ? run_end(keys, from, middle) : keys->count;
        merge(keys, from, at, middle, end, to);
        merges++;
        at = end;
    }
    return merges <= 1;
}

static bool find_order(const struct sort_keys *keys, struct growing_block *order) {
    struct growing_block other = {0};
    size_t size = (size_t)keys->count * sizeof(uint32_t);
    if (!large_block_reserve(order, size) || !large_block_reserve(&other, size)) {
        large_block_release(&other);
        return false;
    }
    for (uint32_t i = 0; i < keys->count; i++) ((uint32_t *)order->data)[i] = i;
    bool is_sorted = false;
    while (!is_sorted) {
        is_sorted = merge_runs(keys, order->data, other.data);
        struct growing_block swapped = *order;
        *order = other;
        other = swapped;
    }
    large_block_release(&other);
    return true;
}

// --- Moving the columns ---

enum { ROWS_WORTH_A_THREAD = 100000 };

struct gathering {
    struct memory_columns *parts;
    size_t part_count, worker_count;
    struct memory_columns *sorted;
    const uint32_t *order;
};

#define GATHER(type)                                                                                                   \
    for (uint32_t i = 0; i < g->sorted->count; i++)                                                                    \
    ((type *)to)[i] = order[i] < split ? ((const type *)first)[order[i]] : ((const type *)second)[order[i] - split]

static void gather(const struct gathering *g, int column) {
    const void *first = g->parts[0].column[column], *second = g->parts[g->part_count - 1].column[column];
    void *to = g->sorted->column[column];
    const uint32_t *order = g->order, split = g->parts[0].count;
    if (widths[column] == 8) GATHER(uint64_t);
    if (widths[column] == 4) GATHER(uint32_t);
    if (widths[column] == 1) GATHER(uint8_t);
}
#undef GATHER

// Every worker takes every worker_count-th column.
static void gather_some(void *context, size_t worker) {
    const struct gathering *g = context;
    for (int i = (int)worker; i < COLUMN_COUNT; i += (int)g->worker_count) {
        if (is_written(g->sorted, i)) gather(g, i);
        for (size_t part = 0; part < g->part_count; part++)
            large_block_forget(g->parts[part].column[i], (size_t)g->parts[part].capacity * widths[i]);
    }
}

static bool make_room(struct memory_columns *sorted, const struct sort_keys *keys, const struct memory_columns *parts,
                      size_t part_count) {
    *sorted = (struct memory_columns){0};
    if (!reserve(sorted, keys->count)) return false;
    sorted->count = keys->count;
    for (size_t i = 0; i < part_count; i++) {
        sorted->has_stack |= parts[i].has_stack;
        sorted->has_timelines |= parts[i].has_timelines;
    }
    return true;
}

bool memory_columns_sort(struct memory_columns *parts, size_t part_count, struct memory_columns *sorted,
                         struct growing_block *order) {
    struct sort_keys keys = keys_of(parts, part_count);
    *order = (struct growing_block){0};
    if (part_count == 1 && is_in_order(&keys)) {
        *sorted = parts[0];
        parts[0] = (struct memory_columns){0};
        return true;
    }
    if (!find_order(&keys, order) || !make_room(sorted, &keys, parts, part_count)) return false;
    size_t workers = keys.count < ROWS_WORTH_A_THREAD ? 1 : 2;
    struct gathering g = {parts, part_count, workers, sorted, order->data};
    parallel_run(gather_some, &g, workers);
    return true;
}
