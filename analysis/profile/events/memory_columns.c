#include "analysis/profile/events/memory_columns.h"

#include <string.h>

#include "analysis/base/parallel.h"

// --- Rows ---

void memory_rows_expect(struct memory_rows *rows, uint64_t count) {
    if (count < UINT32_MAX) (void)!large_block_reserve(&rows->block, (size_t)count * sizeof(struct memory_row));
}

bool memory_rows_add(struct memory_rows *rows, const struct memory_row *row) {
    if (!large_block_reserve(&rows->block, ((size_t)rows->count + 1) * sizeof *row)) return false;
    memory_rows_all(rows)[rows->count++] = *row;
    return true;
}

void memory_rows_release(struct memory_rows *rows) {
    large_block_release(&rows->block);
    *rows = (struct memory_rows){0};
}

// --- Places: a stable merge sort that takes runs as they are ---

static inline bool is_before(const struct memory_place *a, const struct memory_place *b) {
    if (a->timeline != b->timeline) return a->timeline < b->timeline;
    return a->time_ps < b->time_ps;
}

static uint32_t run_end(const struct memory_place *places, uint32_t at, uint32_t count) {
    do at++;
    while (at < count && !is_before(&places[at], &places[at - 1]));
    return at;
}

static void merge(const struct memory_place *from, uint32_t left, uint32_t right, uint32_t end,
                  struct memory_place *to) {
    uint32_t a = left, b = right, at = left;
    while (a < right && b < end) to[at++] = is_before(&from[b], &from[a]) ? from[b++] : from[a++];
    memcpy(to + at, from + a, (right - a) * sizeof *to);
    memcpy(to + at + (right - a), from + b, (end - b) * sizeof *to);
}

// Merges neighbouring runs; true when that made one run of all.
static bool merge_runs(const struct memory_place *from, uint32_t count, struct memory_place *to) {
    uint32_t merges = 0;
    for (uint32_t at = 0, end; at < count; at = end, merges++) {
        uint32_t middle = run_end(from, at, count);
        end = middle < count ? run_end(from, middle, count) : count;
        merge(from, at, middle, end, to);
    }
    return merges <= 1;
}

bool memory_places_sort(struct growing_block *places, uint32_t count) {
    struct growing_block other = {0};
    if (count == 0 || run_end(places->data, 0, count) == count) return true;
    if (!large_block_reserve(&other, (size_t)count * sizeof(struct memory_place))) return false;
    bool is_sorted = false;
    while (!is_sorted) {
        is_sorted = merge_runs(places->data, count, other.data);
        struct growing_block swapped = *places;
        *places = other;
        other = swapped;
    }
    large_block_release(&other);
    return true;
}

// --- Columns ---

static const uint8_t widths[COLUMN_COUNT] = {8, 8, 8, 8, 8, 8, 8, 8, 4, 4, 4, 1};

enum { PAGE_BYTES = 4096, ROW_BYTES = 77, ROWS_WORTH_A_THREAD = 100000 };

// Columns begin on pages: the capacity is a number of pages.
static bool make_room(struct memory_columns *columns, uint32_t count) {
    size_t capacity = ((size_t)count + PAGE_BYTES - 1) & ~((size_t)PAGE_BYTES - 1);
    *columns = (struct memory_columns){.count = count};
    if (!large_block_reserve(&columns->block, capacity * ROW_BYTES)) return false;
    uint8_t *at = columns->block.data;
    for (int i = 0; i < COLUMN_COUNT; at += capacity * widths[i], i++) columns->column[i] = at;
    return true;
}

static inline void write_row(const struct memory_columns *columns, uint32_t at, const struct memory_row *row) {
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
    ((uint8_t *)column[COLUMN_FLAGS])[at] = row->flags;
}

struct writing {
    const struct memory_columns *columns;
    const struct memory_row *first, *second;  // rows of the parts
    uint32_t split;                           // rows of the first
    const struct memory_place *places;
    size_t worker_count;
};

static void write_share(void *context, size_t worker) {
    const struct writing *writing = context;
    uint64_t count = writing->columns->count;
    uint32_t from = (uint32_t)(count * worker / writing->worker_count);
    uint32_t end = (uint32_t)(count * (worker + 1) / writing->worker_count);
    for (uint32_t at = from; at < end; at++) {
        uint32_t row = writing->places[at].row;
        bool is_first = row < writing->split;
        write_row(writing->columns, at, is_first ? &writing->first[row] : &writing->second[row - writing->split]);
    }
}

bool memory_columns_make(struct memory_columns *columns, const struct memory_rows *const parts[], size_t part_count,
                         const struct memory_place *places) {
    const struct memory_rows *last = parts[part_count - 1];
    uint32_t split = parts[0]->count, count = part_count > 1 ? split + last->count : split;
    if (!make_room(columns, count)) return false;
    struct writing writing = {columns, memory_rows_all(parts[0]),          memory_rows_all(last), split,
                              places,  count < ROWS_WORTH_A_THREAD ? 1 : 2};
    parallel_run(write_share, &writing, writing.worker_count);
    return true;
}

void memory_columns_release(struct memory_columns *columns) {
    large_block_release(&columns->block);
    *columns = (struct memory_columns){0};
}

size_t memory_columns_bytes(const struct memory_columns *columns) {
    size_t bytes = 0;
    for (int i = 0; i < COLUMN_COUNT; i++) {
        size_t column = (size_t)columns->count * widths[i];
        bytes += (column + PAGE_BYTES - 1) & ~((size_t)PAGE_BYTES - 1);
    }
    return bytes;
}
