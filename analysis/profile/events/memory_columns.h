// The columns behind all timelines of a profile: grown row by row in the order of the file, then put in order.
//
//     file order   rows of thread 1, rows of thread 2, ...        each thread's rows nearly always by time already
//                  \___ part 0 ___/  \___ part 1 ___/             one part, or two that were read at once
//     sorted       rows of timeline 0 by time, rows of timeline 1 by time, ...
//
//     block        [ times ... | heap ... | ... | flags ... ]     one block: huge pages for short columns too
//
// As a column is put in order its parts are given back, so that needs room for few columns more, not for all of them
// twice.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "analysis/base/large_block.h"
#include "proto/bytes.h"

#define MEMORY_EVENT_NONE UINT32_MAX

enum memory_event_flag {
    MEMORY_EVENT_IS_FREE = 1,                // a MemoryDeallocation; else a MemoryAllocation
    MEMORY_EVENT_STEP_IS_COMPLETED = 2,      // no step was known for the event itself
    MEMORY_EVENT_HAS_STATE = 4,              // the event told bytes_allocated; else heap, stack, free say nothing (0)
    MEMORY_EVENT_INTEGER_FRAGMENTATION = 8,  // written as an integer, which XProf reads as 0
};

#define STEP_UNKNOWN INT64_MIN  // no step is known for the row

enum memory_column {
    COLUMN_TIME,  // int64, as is what follows
    COLUMN_HEAP,
    COLUMN_STACK,
    COLUMN_FREE,
    COLUMN_PEAK,
    COLUMN_FRAGMENTATION,  // double
    COLUMN_ADDRESS,        // uint64
    COLUMN_STEP,           // int64
    COLUMN_SITE,           // uint32
    COLUMN_PARTNER,
    COLUMN_THREAD,
    COLUMN_TIMELINE,
    COLUMN_FLAGS,  // uint8
    COLUMN_COUNT,
};

// A line of the host plane: what COLUMN_THREAD counts.
struct memory_thread {
    struct bytes name;
    int64_t id;
    int64_t begin_ps;  // the line's own start: an event's time relative to its line is time_ps - begin_ps
};

struct memory_columns {
    struct growing_block block;
    void *column[COLUMN_COUNT];  // parts of the block
    uint32_t count, capacity;
    bool has_stack, has_timelines;  // some row has another than 0
};

// One row, as it is added.
struct memory_row {
    int64_t time_ps, heap_bytes, stack_bytes, free_bytes, peak_bytes, step;
    double fragmentation;
    uint64_t address;
    uint32_t site, thread, timeline;
    uint8_t flags;
};

// Room for so many rows at once, which costs nothing until they come. Not having it is no error.
void memory_columns_expect(struct memory_columns *columns, uint64_t rows);

// False when there is no memory.
bool memory_columns_add(struct memory_columns *columns, const struct memory_row *row);
void memory_columns_release(struct memory_columns *columns);

// What the rows take; room that was never used takes nothing.
size_t memory_columns_bytes(const struct memory_columns *columns);

enum { MEMORY_COLUMNS_MAX_PARTS = 2 };

// Moves the rows of the parts, which follow each other in the file, into *sorted: by timeline, then time, equal ones as
// they were. order[i] is the place in the file of row i; no block when nothing had to move. False when there is no
// memory. Free `order` with large_block_release.
bool memory_columns_sort(struct memory_columns *parts, size_t part_count, struct memory_columns *sorted,
                         struct growing_block *order);

static inline int64_t *memory_column_int64(const struct memory_columns *columns, enum memory_column column) {
    return columns->column[column];
}
static inline uint32_t *memory_column_uint32(const struct memory_columns *columns, enum memory_column column) {
    return columns->column[column];
}
